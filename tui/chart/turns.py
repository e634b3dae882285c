"""Drawing of jobs that share processors in time: their turns or, from afar, their rows in lanes."""

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
    """Return True if a column is short enough to see turns of `turn` seconds; False for None."""
    return turn is not None and column <= turn


def by_turns(history: Past, stretches: Iterable[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    """Yield each turn of jobs that take turns if a column is short enough to see them; other stretches unchanged."""
    for stretch in stretches:
        if stretch.rows and are_seen(history.turn_at(stretch.start), column):
            yield from history.turns(stretch, begin, end)
        else:
            yield stretch


def row_on_turn(snapshot: Snapshot, clock: float) -> int | None:
    """Return the active row of the matrix at that time; None if the run has no rows."""
    return None if snapshot.matrix is None else turn_at(snapshot, clock).row


class OnTurn(NamedTuple):
    """Row of the matrix with its current turn."""

    row: int | None
    end: float | None
    """End of the turn, or None."""
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
    """Return the begin of the last turn that began before that time; None if it is not known or rows take no turns."""
    if snapshot.matrix is None or snapshot.time is None or before <= snapshot.time + MOMENT:
        return None
    _, end, slice = turn_at(snapshot, max(before - 2 * MOMENT, snapshot.time))
    if end is None or end - slice < snapshot.time - MOMENT:
        return None
    return max(end - slice, snapshot.time)


class RowsSharing(NamedTuple):
    """Rows that share each column of the chart, with their jobs."""

    stands: NDArray[np.bool_]
    """[stretch, row]: True if the stretch is in the row"""
    order: Ints
    """[place, column]: the row, of all rows with jobs at that time"""
    many: Ints
    """column -> number of such rows, at least 1"""

    def shows(self, stretch: Ints, band: Ints, column: Ints) -> NDArray[np.bool_]:
        """Return True for each pixel in which the stretch is shown; bands show the rows in turn, at all times alike."""
        shown: NDArray[np.bool_] = self.stands[stretch, self.order[band % self.many[column], column]]
        return shown


def rows_sharing(stretches: Sequence[Stretch], first: Ints, last: Ints, columns: int) -> RowsSharing:
    """Return the rows that share each of `columns` columns; each stretch has its `first` and `last` column."""
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    stands = np.array([[row in stretch.rows for row in rows] for stretch in stretches])
    change = np.zeros((len(rows), columns + 1), np.int32)
    stretch, row = np.nonzero(stands)
    np.add.at(change, (row, first[stretch]), 1)
    np.add.at(change, (row, last[stretch]), -1)
    present = np.cumsum(change[:, :-1], axis=1) > 0
    return RowsSharing(stands, np.argsort(~present, axis=0, kind="stable"), np.maximum(present.sum(axis=0), 1))
