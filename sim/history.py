"""What ran where and when, and why: columns that only grow, and that a chart can query by time.

A *stretch* is a span of time in which a job holds a set of processors. Stretches are appended in the order in
which they begin; the end of an open one is infinite until it is closed. Every `_EVERY` stretches the open ones
are marked, so that a window of time is answered by looking at what is in it and at most `_EVERY` more.

Where jobs share processors in time, a stretch of kind "gang" is a stay in the same rows of the matrix. How the rows
took turns is known from their clock after each step; the turns of a stretch are derived when somebody looks.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import NamedTuple

from sim.decisions import Decision
from sim.turns import Turns

_EVERY = 256
KINDS = ("run", "speculative", "suspending", "resuming", "gang", "turn")
RUN, SPECULATIVE, SUSPENDING, RESUMING, GANG, TURN = range(len(KINDS))


class Stretch(NamedTuple):
    """One job on some processors for some time; `end` is None while it goes on."""

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int
    rows: tuple[int, ...] = ()
    """The rows of the matrix in which the job stands: it has the processors when one of them is on turn."""


class History:
    """The past of one run."""

    __slots__ = (
        "_boundaries", "_clock_since", "_clocks", "_decision_end", "_decisions", "_end", "_free", "_kind", "_marks",
        "_open", "_places", "_processors", "_rank", "_rows", "_start", "_time", "_waiting", "_wanted", "decided",
    )  # fmt: skip

    def __init__(self) -> None:
        self._rank, self._start, self._end = array("l"), array("d"), array("d")
        self._kind, self._processors = bytearray(), list[int]()
        self._open: dict[int, None] = {}
        self._marks: list[tuple[int, ...]] = []
        self._time, self._free = array("d"), array("d")
        self._waiting, self._wanted = array("l"), array("l")
        self._decisions: list[Decision] = []
        self.decided = self._decisions.append
        """The engine applied this decision."""
        self._decision_end = array("l")
        self._boundaries: list[tuple[float, tuple[int, ...]]] = []
        self._places: dict[int, tuple[int, tuple[int, ...], int]] = {}
        """rank -> (columns, rows, stretch) of the jobs in the matrix"""
        self._rows: dict[int, tuple[int, ...]] = {}
        """stretch -> rows, of those of kind gang"""
        self._clock_since, self._clocks = array("d"), list[Turns]()

    # Written by the engine

    def begin(self, rank: int, now: float, processors: int, kind: int = 0) -> int:
        """A stretch begins; the number that is returned closes it."""
        stretch = len(self._start)
        if not stretch % _EVERY:
            self._marks.append(tuple(self._open))
        self._rank.append(rank)
        self._start.append(now)
        self._end.append(inf)
        self._kind.append(kind)
        self._processors.append(processors)
        self._open[stretch] = None
        return stretch

    def finish(self, stretch: int, now: float) -> None:
        """The stretch is over."""
        self._end[stretch] = now
        del self._open[stretch]

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        """A step is complete."""
        self._time.append(now)
        self._free.append(free)
        self._waiting.append(waiting)
        self._wanted.append(wanted)
        self._decision_end.append(len(self._decisions))

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        """From now on the partitions own these processors."""
        if self._boundaries and self._boundaries[-1][0] == now:
            self._boundaries.pop()
        self._boundaries.append((now, tuple(owners)))

    def share(self, now: float, turns: Turns, places: Mapping[int, tuple[int, tuple[int, ...]]]) -> None:
        """From now on the rows go by this clock, and each job (rank) has these (columns, rows)."""
        self._clock_since.append(now)
        self._clocks.append(turns.copy())
        for rank, (columns, rows) in places.items():
            known = self._places.get(rank)
            if known is None or known[1] != rows or known[0] != columns:
                if known is not None:
                    self.finish(known[2], now)
                stretch = self.begin(rank, now, columns, GANG)
                self._rows[stretch] = rows
                self._places[rank] = columns, rows, stretch

    def leave_matrix(self, rank: int, now: float) -> None:
        """The job stands in no row any more."""
        self.finish(self._places.pop(rank)[2], now)

    def mend_free(self, free: float) -> None:
        """So many processors were free on average since the last step."""
        self._free[-1] = free

    # Read by everybody

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self._time)

    def __len__(self) -> int:
        """How many stretches there are."""
        return len(self._start)

    def stretch(self, index: int) -> Stretch:
        end = self._end[index]
        return Stretch(
            self._rank[index],
            _plain(self._start[index]),
            None if end == inf else _plain(end),
            KINDS[self._kind[index]],
            self._processors[index],
            self._rows.get(index, ()),
        )

    def stretches(self) -> Iterator[Stretch]:
        """All of them, in the order in which they began."""
        return map(self.stretch, range(len(self)))

    def segments(self) -> Iterator[Stretch]:
        """All stretches in which processors were held: where rows take turns, every turn is one."""
        now = self._time[-1] if self._time else 0
        for stretch in self.stretches():
            if stretch.rows:
                yield from self.turns(stretch, stretch.start, now if stretch.end is None else stretch.end)
            else:
                yield stretch

    def turns(self, stretch: Stretch, start: float, end: float) -> Iterator[Stretch]:
        """The turns of a stretch of kind gang, from `start` until `end`, cut off there."""
        start, end = max(start, stretch.start), end if stretch.end is None else min(end, stretch.end)
        clock = max(bisect_right(self._clock_since, start) - 1, 0)
        row, begun, ended = -1, start, start
        while start < end and clock < len(self._clocks):
            until = min(end, self._clock_since[clock + 1]) if clock + 1 < len(self._clocks) else end
            for turn in self._clocks[clock].window(start, until):
                if turn.row not in stretch.rows:
                    continue
                if turn.row != row or turn.begin != ended:
                    if ended > begun:
                        yield stretch._replace(start=_plain(begun), end=_plain(ended), kind=KINDS[TURN], rows=(row,))
                    row, begun = turn.row, turn.begin
                ended = turn.end
            start, clock = until, clock + 1
        if ended > begun:
            yield stretch._replace(start=_plain(begun), end=_plain(ended), kind=KINDS[TURN], rows=(row,))

    def between(self, start: float, end: float, processors: int = -1) -> list[Stretch]:
        """What ran on these processors (default: on any) at some moment from `start` until `end`.

        Takes time in proportion to what is visible, however long the history is.
        """
        first = bisect_left(self._start, start)
        last = bisect_left(self._start, end)
        mark = max(bisect_right(self._start, start) - 1, 0) // _EVERY  # the last that was made by then
        earlier = [*self._marks[mark], *range(mark * _EVERY, first)] if self._marks else []
        ends, held = self._end, self._processors
        seen = [i for i in earlier if ends[i] > start]
        seen += range(first, last)
        return [self.stretch(i) for i in seen if held[i] & processors]

    def step_at(self, time: float) -> int | None:
        """The last step at or before `time`, counted from 0; None before the first."""
        index = bisect_right(self._time, time) - 1
        return index if index >= 0 else None

    def time_of(self, step: int) -> float:
        return _plain(self._time[step])

    def decisions(self, step: int) -> Sequence[Decision]:
        """What was decided in that step, in order."""
        first = self._decision_end[step - 1] if step else 0
        return self._decisions[first : self._decision_end[step]]

    def all_decisions(self) -> Iterator[tuple[int, Decision]]:
        """(step, decision) from the beginning on."""
        first = 0
        for step, end in enumerate(self._decision_end):
            for decision in self._decisions[first:end]:
                yield step, decision
            first = end

    def owners_at(self, time: float) -> tuple[int, ...]:
        """Which processors each partition owned then; empty without partitions."""
        index = bisect_right(self._boundaries, time, key=itemgetter(0)) - 1
        return self._boundaries[index][1] if index >= 0 else ()

    def owners_between(self, start: float, end: float) -> list[tuple[float, tuple[int, ...]]]:
        """(since when, owners) of every division that held at some moment from `start` until `end`."""
        first = max(bisect_right(self._boundaries, start, key=itemgetter(0)) - 1, 0)
        last = bisect_left(self._boundaries, end, key=itemgetter(0))
        return self._boundaries[first:last]

    def columns(self) -> tuple[array[float], array[float], array[int], array[int]]:
        """time, free, waiting and wanted after each step: copies."""
        return self._time[:], self._free[:], self._waiting[:], self._wanted[:]


def _plain(time: float) -> float:
    """Whole seconds as int, so that they print without a decimal point."""
    return int(time) if time == int(time) else time
