"""Lanes of matrix rows under gang scheduling, stacked like one large machine; jobs are blocks in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.machine.moment import MOMENT


class Lane(NamedTuple):
    """Lane of a matrix row at one time; lanes are counted from the top."""

    row: int | None
    is_on_turn: bool


class Lanes:
    """Lanes of all matrix rows over time: a new row gets the highest free lane, and keeps it until it is removed."""

    def __init__(self, procs: int) -> None:
        self.stride = procs + 1
        """Number of positions per lane: one for each processor, and one for the gap to the next lane."""
        self.count = 0
        """Largest number of lanes that was needed at once up to the time shown."""
        self._read = 0
        self._standing: dict[int, int] = {}
        self._given: dict[int, tuple[list[float], list[int]]] = {}
        """Times and lanes of each row's id, which may be used again after its row is removed"""
        self._grown: list[float] = []
        """Times at which the number of lanes grew: entry i is the time from which at least i + 1 lanes are needed"""

    def read(self, history: Past, clock: float) -> None:
        for time, rows in history.rows_settled(self._read):
            self._read += 1
            if rows != tuple(self._standing):
                self._settle(time, rows)
        self.count = bisect_right(self._grown, clock)

    def _settle(self, time: float, rows: tuple[int, ...]) -> None:
        kept = {row: self._standing[row] for row in rows if row in self._standing}
        taken = set(kept.values())
        free = (lane for lane in count() if lane not in taken)
        for row in rows:
            if row not in kept:
                kept[row] = next(free)
                times, lanes = self._given.setdefault(row, ([], []))
                times.append(time)
                lanes.append(kept[row])
        self._standing = {row: kept[row] for row in rows}
        self._grown += [time] * (max(kept.values(), default=-1) + 1 - len(self._grown))

    def of(self, row: int, time: float) -> int:
        """Return the number of the lane that the row has at `time`, counted from 0 at the top."""
        times, lanes = self._given[row]
        return lanes[max(bisect_right(times, time) - 1, 0)]

    def spread(self, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
        """Yield each stretch in the lane of each row of its job, home first; without rows in the uppermost."""
        for stretch in stretches:
            if not stretch.rows:
                yield stretch._replace(processors=self._lifted(stretch.processors, 0))
            for place, row in enumerate(stretch.rows):
                kind = stretch.kind if stretch.kind != "gang" else "replica" if place else "turn"
                lifted = self._lifted(stretch.processors, self.of(row, stretch.start))
                yield stretch._replace(kind=kind, processors=lifted, rows=())

    def joined(self, stretches: Iterable[Stretch]) -> list[Stretch]:
        """Return the stretches in their lanes, joined where those of a job follow on the same processors."""
        made: list[Stretch] = []
        last: dict[tuple[int, int], int] = {}
        for stretch in self.spread(stretches):
            place = last.get((stretch.rank, stretch.processors))
            if place is not None and made[place].end == stretch.start and made[place].kind == stretch.kind:
                made[place] = stretch._replace(start=made[place].start)
            else:
                last[stretch.rank, stretch.processors] = len(made)
                made.append(stretch)
        return made

    def _lifted(self, processors: int, lane: int) -> int:
        return processors << (self.count - 1 - lane) * self.stride

    def now(self, snapshot: Snapshot, clock: float) -> tuple[Lane, ...]:
        rows: dict[int, int] = {}
        if snapshot.matrix is not None:
            rows = {self.of(row, clock): row for row, _ in snapshot.matrix.rows}
        on_turn = row_on_turn(snapshot, clock)
        return tuple(Lane(row := rows.get(lane), row is not None and row == on_turn) for lane in range(self.count))


# Turns.


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
