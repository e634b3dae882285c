"""Lanes of matrix rows under gang scheduling, stacked like one large machine; jobs are blocks in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.history.stretch import Stretch
from tui.chart.turns import row_on_turn


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
