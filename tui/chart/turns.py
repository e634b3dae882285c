"""Turns of matrix rows in the chart: drawn if long enough to see, else rows share columns or have lanes."""

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
    """Return True if turns of `turn` seconds are at least as long as a column of `column` seconds; False for None."""
    return turn is not None and column <= turn


def by_turns(history: Past, stretches: Iterable[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    """Yield the stretches, one for each turn if turns take at least `column` seconds."""
    for stretch in stretches:
        if stretch.rows and are_seen(history.turn_at(stretch.start), column):
            yield from history.turns(stretch, begin, end)
        else:
            yield stretch


def row_on_turn(snapshot: Snapshot, clock: float) -> int | None:
    return None if snapshot.matrix is None else turn_at(snapshot, clock).row


def busy_at(snapshot: Snapshot, clock: float) -> int:
    """Return the processors in use at `clock`; matrix rows take turns between steps, too."""
    row = row_on_turn(snapshot, clock)
    if snapshot.matrix is None or row is None:
        return snapshot.there - snapshot.free
    return sum(cell.columns.bit_count() for cell in dict(snapshot.matrix.rows)[row])


class OnTurn(NamedTuple):
    row: int | None
    end: float | None
    slice: float


def turn_at(snapshot: Snapshot, clock: float) -> OnTurn:
    """Return the active row and its turn at `clock`, also if it began after the last step."""
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
    """Return when the last turn before `before` began; None if no turn began since the step."""
    if snapshot.matrix is None or snapshot.time is None or before <= snapshot.time + MOMENT:
        return None
    _, end, slice = turn_at(snapshot, max(before - 2 * MOMENT, snapshot.time))
    if end is None or end - slice < snapshot.time - MOMENT:
        return None
    return max(end - slice, snapshot.time)


class RowsSharing(NamedTuple):
    """Rows of the matrix in the same columns of the chart, whose turns are too short to see."""

    stands: NDArray[np.bool_]
    """Array (stretch, row): True if the job of the stretch is in this row"""
    order: Ints
    """Rows (by index) of each column, first those with jobs in it, which bands show in turn."""
    many: Ints
    """For each column: the number of rows that have jobs in it, at least 1"""

    def shows(self, stretch: Ints, band: Ints, column: Ints) -> NDArray[np.bool_]:
        """Return True for pixels that show the stretch; in a column bands show rows alternately."""
        shown: NDArray[np.bool_] = self.stands[stretch, self.order[band % self.many[column], column]]
        return shown


def rows_sharing(stretches: Sequence[Stretch], first: Ints, last: Ints, columns: int) -> RowsSharing:
    """Return which rows share each column; stretch i is in columns `first[i]` to before `last[i]`."""
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    stands = np.array([[row in stretch.rows for row in rows] for stretch in stretches])
    change = np.zeros((len(rows), columns + 1), np.int32)
    stretch, row = np.nonzero(stands)
    np.add.at(change, (row, first[stretch]), 1)
    np.add.at(change, (row, last[stretch]), -1)
    present = np.cumsum(change[:, :-1], axis=1) > 0
    return RowsSharing(stands, np.argsort(~present, axis=0, kind="stable"), np.maximum(present.sum(axis=0), 1))
