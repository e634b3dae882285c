"""Turns of matrix rows in the chart: drawn one by one if they are long enough to see, otherwise as lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.machine.moment import MOMENT

Ints = NDArray[np.intp]


def are_seen(turn: float | None, column: float) -> bool:
    """Return True if turns of `turn` seconds are long enough to be seen in columns of `column` seconds; False for
    None.
    """
    return turn is not None and column <= turn


def by_turns(history: Past, stretches: Iterable[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    """Yield each turn of jobs that take turns, if they are long enough to be seen; other stretches unchanged."""
    for stretch in stretches:
        if stretch.rows and are_seen(history.turn_at(stretch.start), column):
            yield from history.turns(stretch, begin, end)
        else:
            yield stretch


def row_on_turn(snapshot: Snapshot, clock: float) -> int | None:
    """Return the id of the row that is active at that time, or None."""
    return None if snapshot.matrix is None else turn_at(snapshot, clock).row


class OnTurn(NamedTuple):
    """Row of the matrix that is active, with its turn."""

    row: int | None
    end: float | None
    """End of the turn; None if it does not end."""
    slice: float


def turn_at(snapshot: Snapshot, clock: float) -> OnTurn:
    """Return the active row at that time; rows also take turns between two steps."""
    assert snapshot.matrix is not None
    turns = snapshot.rules.turns()
    on_turn, end = snapshot.matrix.on_turn, snapshot.turn_end
    if turns is None or end is None or on_turn is None:
        return OnTurn(on_turn, None, 0)
    rows = [row for row, _ in snapshot.matrix.rows]
    later = int((clock - end + MOMENT) // turns.slice) + 1 if clock >= end - MOMENT else 0
    row = rows[(rows.index(on_turn) + later) % len(rows)]
    return OnTurn(row, end + later * turns.slice, turns.slice)


def last_turn(snapshot: Snapshot, before: float) -> float | None:
    """Return when the last turn before that time began; None if unknown or no rows take turns."""
    if snapshot.matrix is None or snapshot.time is None or before <= snapshot.time + MOMENT:
        return None
    _, end, slice = turn_at(snapshot, max(before - 2 * MOMENT, snapshot.time))
    if end is None or end - slice < snapshot.time - MOMENT:
        return None
    return max(end - slice, snapshot.time)


class RowsSharing(NamedTuple):
    """Matrix rows whose jobs share columns of the chart, because turns are too short to be seen."""

    stands: NDArray[np.bool_]
    """True if the job of the stretch is in the row, by stretch and row"""
    order: Ints
    """Rows with jobs in each column, in the order in which bands show them, by place and column"""
    many: Ints
    """Number of such rows in each column, at least 1"""

    def shows(self, stretch: Ints, band: Ints, column: Ints) -> NDArray[np.bool_]:
        """Return True for each pixel that shows this stretch: bands show the rows in turn, the same in all columns."""
        shown: NDArray[np.bool_] = self.stands[stretch, self.order[band % self.many[column], column]]
        return shown


def rows_sharing(stretches: Sequence[Stretch], first: Ints, last: Ints, columns: int) -> RowsSharing:
    """Return which rows share each of `columns` columns; a stretch extends from its column in `first` to that in
    `last`.
    """
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    stands = np.array([[row in stretch.rows for row in rows] for stretch in stretches])
    change = np.zeros((len(rows), columns + 1), np.int32)
    stretch, row = np.nonzero(stands)
    np.add.at(change, (row, first[stretch]), 1)
    np.add.at(change, (row, last[stretch]), -1)
    present = np.cumsum(change[:, :-1], axis=1) > 0
    return RowsSharing(stands, np.argsort(~present, axis=0, kind="stable"), np.maximum(present.sum(axis=0), 1))
