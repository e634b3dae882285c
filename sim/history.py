"""What ran where and when, and why: columns that only grow, and that a chart can query by time.

A *stretch* is a span of time in which a job holds a set of processors. Stretches are appended in the order in
which they begin; the end of an open one is infinite until it is closed. Every `_EVERY` stretches the open ones
are marked, so that a window of time is answered by looking at what is in it and at most `_EVERY` more.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from math import inf
from operator import itemgetter
from typing import NamedTuple

from sim.decisions import Decision

_EVERY = 256
KINDS = ("run", "speculative", "suspending", "resuming")
RUN, SPECULATIVE, SUSPENDING, RESUMING = range(len(KINDS))


class Stretch(NamedTuple):
    """One job on some processors for some time; `end` is None while it goes on."""

    rank: int
    start: float
    end: float | None
    kind: str
    processors: int


class History:
    """The past of one run."""

    __slots__ = (
        "_boundaries", "_decision_end", "_decisions", "_end", "_free", "_kind", "_marks", "_open",
        "_processors", "_rank", "_start", "_time", "_waiting", "_wanted",
    )  # fmt: skip

    def __init__(self) -> None:
        self._rank, self._start, self._end = array("l"), array("d"), array("d")
        self._kind, self._processors = bytearray(), list[int]()
        self._open: dict[int, None] = {}
        self._marks: list[tuple[int, ...]] = []
        self._time, self._free = array("d"), array("l")
        self._waiting, self._wanted = array("l"), array("l")
        self._decisions: list[Decision] = []
        self._decision_end = array("l")
        self._boundaries: list[tuple[float, tuple[int, ...]]] = []

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

    def decided(self, decision: Decision) -> None:
        """The engine applied this."""
        self._decisions.append(decision)

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
        )

    def stretches(self) -> Iterator[Stretch]:
        """All of them, in the order in which they began."""
        return map(self.stretch, range(len(self)))

    def between(self, start: float, end: float, processors: int = -1) -> list[Stretch]:
        """What ran on these processors (default: on any) at some moment from `start` until `end`.

        Takes time in proportion to what is visible, however long the history is.
        """
        first = bisect_left(self._start, start)
        last = bisect_left(self._start, end)
        mark = first // _EVERY
        earlier: list[int] = []
        if self._marks:
            mark = min(mark, len(self._marks) - 1)
            earlier = [*self._marks[mark], *range(mark * _EVERY, first)]
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

    def columns(self) -> tuple[array[float], array[int], array[int], array[int]]:
        """time, free, waiting and wanted after each step: copies."""
        return self._time[:], self._free[:], self._waiting[:], self._wanted[:]


def _plain(time: float) -> float:
    """Whole seconds as int, so that they print without a decimal point."""
    return int(time) if time.is_integer() else time
