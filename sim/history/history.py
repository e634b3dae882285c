"""What ran where and when, and why: columns that only grow, and that a chart can query by time.

A *stretch* is a span of time in which a job holds a set of processors. Stretches are appended in the order in
which they begin; the end of an open one is infinite until it is closed. Every `_EVERY` stretches the open ones
are marked, so that a window of time is answered by looking at what is in it and at most `_EVERY` more.

Where jobs share processors in time, a stretch of kind "gang" is a stay in the same rows of the matrix. How the rows
took turns is known from their clock after each step; the turns of a stretch are derived when somebody looks.

It is known of every stretch in which steps it began and ended, so the past can be read as it was after any step
(`as_of`), and cut there and continued differently (`until`): two steps may have the same time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from sim.decisions.decisions import Decision
from sim.machine.turns import Turns

_EVERY = 256
_NEVER = 2**31 - 1
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


class PolicyChange(NamedTuple):
    """The policy was switched: the run had made so many steps when it was done, that one included."""

    step: int
    time: float
    was: str
    now: str


class Past:
    """The past of one run up to some step, for reading. Made by `History.as_of`; a `History` is one that goes on."""

    __slots__ = (
        "_begun", "_boundaries", "_boundary_step", "_changes", "_clock_since", "_clock_step", "_clocks",
        "_decision_end", "_decisions", "_end", "_end_step", "_free", "_kind", "_marks", "_processors", "_rank", "_rows",
        "_start", "_steps", "_time", "_waiting", "_wanted",
    )  # fmt: skip

    _rank: array[int]
    _start: array[float]
    _end: array[float]
    _end_step: array[int]
    """In which step, counted from 0, the stretch ended"""
    _kind: bytearray
    _processors: list[int]
    _marks: list[tuple[int, ...]]
    _rows: dict[int, tuple[int, ...]]
    """stretch -> rows, of those of kind gang"""
    _time: array[float]
    _free: array[float]
    _waiting: array[int]
    _wanted: array[int]
    _begun: array[int]
    """How many stretches had begun by the end of each step"""
    _decisions: list[Decision]
    _decision_end: array[int]
    _boundaries: list[tuple[float, tuple[int, ...]]]
    _boundary_step: array[int]
    _clock_since: array[float]
    _clocks: list[Turns]
    _clock_step: array[int]
    _changes: list[PolicyChange]
    _steps: int | None
    """How many steps are looked at; None: all, and what has happened since the last"""

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self._time) if self._steps is None else self._steps

    def __len__(self) -> int:
        """How many stretches there are."""
        if self._steps is None:
            return len(self._start)
        return self._begun[self._steps - 1] if self._steps else 0

    def stretch(self, index: int) -> Stretch:
        """That stretch, counted from 0 in the order in which they began."""
        open_ = self._end_step[index] >= (_NEVER if self._steps is None else self._steps)
        return Stretch(
            self._rank[index],
            whole(self._start[index]),
            None if open_ else whole(self._end[index]),
            KINDS[self._kind[index]],
            self._processors[index],
            self._rows.get(index, ()),
        )

    def stretches(self) -> Iterator[Stretch]:
        """All of them, in the order in which they began."""
        return map(self.stretch, range(len(self)))

    def segments(self) -> Iterator[Stretch]:
        """All stretches in which processors were held: where rows take turns, every turn is one."""
        now = self._time[self.steps - 1] if self.steps else 0
        for stretch in self.stretches():
            if stretch.rows:
                yield from self.turns(stretch, stretch.start, now if stretch.end is None else stretch.end)
            else:
                yield stretch

    def turns(self, stretch: Stretch, start: float, end: float) -> Iterator[Stretch]:
        """The turns of a stretch of kind gang, from `start` until `end`, cut off there."""
        start, end = max(start, stretch.start), end if stretch.end is None else min(end, stretch.end)
        clocks = len(self._clocks) if self._steps is None else bisect_left(self._clock_step, self._steps)
        clock = max(bisect_right(self._clock_since, start, 0, clocks) - 1, 0)
        row, begun, ended = -1, start, start
        while start < end and clock < clocks:
            until = min(end, self._clock_since[clock + 1]) if clock + 1 < clocks else end
            for turn in self._clocks[clock].window(start, until):
                if turn.row not in stretch.rows:
                    continue
                if turn.row != row or turn.begin != ended:
                    if ended > begun:
                        yield stretch._replace(start=whole(begun), end=whole(ended), kind=KINDS[TURN], rows=(row,))
                    row, begun = turn.row, turn.begin
                ended = turn.end
            start, clock = until, clock + 1
        if ended > begun:
            yield stretch._replace(start=whole(begun), end=whole(ended), kind=KINDS[TURN], rows=(row,))

    def between(self, start: float, end: float, processors: int = -1) -> list[Stretch]:
        """What ran on these processors (default: on any) at some moment from `start` until `end`.

        Takes time in proportion to what is visible, however long the history is.
        """
        count = len(self)
        first = bisect_left(self._start, start, 0, count)
        last = bisect_left(self._start, end, 0, count)
        # the last that was made by then
        mark = max(bisect_right(self._start, start, 0, count) - 1, 0) // _EVERY
        earlier = [*self._marks[mark], *range(mark * _EVERY, first)] if self._marks else []
        ends, held = self._end, self._processors
        open_from = _NEVER if self._steps is None else self._steps
        seen = [i for i in earlier if ends[i] > start or self._end_step[i] >= open_from]
        seen += range(first, last)
        return [self.stretch(i) for i in seen if held[i] & processors]

    def step_at(self, time: float) -> int | None:
        """The last step at or before `time`, counted from 0; None before the first."""
        index = bisect_right(self._time, time, 0, self.steps) - 1
        return index if index >= 0 else None

    def time_of(self, step: int) -> float:
        """When that step, counted from 0, was."""
        return whole(self._time[step])

    def decisions(self, step: int) -> Sequence[Decision]:
        """What was decided in that step, in order."""
        first = self._decision_end[step - 1] if step else 0
        return self._decisions[first : self._decision_end[step]]

    def all_decisions(self) -> Iterator[tuple[int, Decision]]:
        """(step, decision) from the beginning on."""
        first = 0
        for step in range(self.steps):
            end = self._decision_end[step]
            for decision in self._decisions[first:end]:
                yield step, decision
            first = end

    @property
    def switches(self) -> tuple[PolicyChange, ...]:
        """Every switch of the policy so far."""
        return tuple(change for change in self._changes if change.step <= self.steps)

    def owners_at(self, time: float) -> tuple[int, ...]:
        """Which processors each partition owned then; empty without partitions."""
        index = bisect_right(self._boundaries, time, 0, self._divisions, key=itemgetter(0)) - 1
        return self._boundaries[index][1] if index >= 0 else ()

    def owners_between(self, start: float, end: float) -> list[tuple[float, tuple[int, ...]]]:
        """(since when, owners) of every division that held at some moment from `start` until `end`."""
        first = max(bisect_right(self._boundaries, start, 0, self._divisions, key=itemgetter(0)) - 1, 0)
        last = bisect_left(self._boundaries, end, 0, self._divisions, key=itemgetter(0))
        return self._boundaries[first:last]

    @property
    def _divisions(self) -> int:
        return bisect_left(self._boundary_step, self.steps if self._steps is not None else _NEVER)

    def columns(self) -> tuple[array[float], array[float], array[int], array[int]]:
        """time, free, waiting and wanted after each step: copies."""
        steps = self.steps
        return self._time[:steps], self._free[:steps], self._waiting[:steps], self._wanted[:steps]


class History(Past):
    """The past of one run, to which the engine adds."""

    __slots__ = ("_places", "decided")

    decided: Callable[[Decision], None]
    """The engine applied this decision."""

    def __init__(self) -> None:
        self._rank, self._start, self._end = array("l"), array("d"), array("d")
        self._end_step, self._begun = array("l"), array("l")
        self._kind, self._processors = bytearray(), []
        self._marks = []
        self._time, self._free = array("d"), array("d")
        self._waiting, self._wanted = array("l"), array("l")
        self._decisions, self._decision_end = [], array("l")
        self.decided = self._decisions.append
        self._boundaries, self._boundary_step = [], array("l")
        self._places: dict[int, tuple[int, tuple[int, ...], int]] = {}
        """rank -> (columns, rows, stretch) of the jobs in the matrix"""
        self._rows = {}
        self._clock_since, self._clocks, self._clock_step = array("d"), [], array("l")
        self._changes = []
        self._steps = None

    # Written by the engine

    def begin(self, rank: int, now: float, processors: int, kind: int = 0) -> int:
        """A stretch begins; the number that is returned closes it."""
        stretch = len(self._start)
        if not stretch % _EVERY:
            self._marks.append(tuple(self._open()))
        self._rank.append(rank)
        self._start.append(now)
        self._end.append(inf)
        self._end_step.append(_NEVER)
        self._kind.append(kind)
        self._processors.append(processors)
        return stretch

    def finish(self, stretch: int, now: float) -> None:
        """The stretch is over."""
        self._end[stretch] = now
        self._end_step[stretch] = len(self._time)

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        """A step is complete."""
        self._time.append(now)
        self._free.append(free)
        self._waiting.append(waiting)
        self._wanted.append(wanted)
        self._decision_end.append(len(self._decisions))
        self._begun.append(len(self._start))

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        """From now on the partitions own these processors."""
        step = len(self._time)
        if self._boundary_step and self._boundary_step[-1] == step:
            self._boundaries.pop()
            self._boundary_step.pop()
        self._boundaries.append((now, tuple(owners)))
        self._boundary_step.append(step)

    def share(self, now: float, turns: Turns, places: Mapping[int, tuple[int, tuple[int, ...]]]) -> None:
        """From now on the rows go by this clock, and each job (rank) has these (columns, rows)."""
        self._clock_since.append(now)
        self._clocks.append(turns.copy())
        self._clock_step.append(len(self._time))
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

    def switch(self, now: float, was: str, to: str) -> None:
        """Another policy takes over in this step."""
        self._changes.append(PolicyChange(len(self._time) + 1, now, was, to))

    def open_stretches(self) -> dict[int, int]:
        """rank -> stretch, of every job that is on processors or in the matrix."""
        return {self._rank[stretch]: stretch for stretch in self._open()}

    def _open(self) -> list[int]:
        """The stretches that have not ended: of those that were open at the last mark, and those since."""
        ends, last = self._end, max(len(self._marks) - 1, 0)
        known = [*self._marks[last], *range(last * _EVERY, len(ends))] if self._marks else []
        return [stretch for stretch in known if ends[stretch] == inf]

    # Read as of another moment, and cut there

    def as_of(self, step: int) -> Past:
        """The past as it was when so many steps had been made: what runs then is open, what came later is not there.

        The columns are shared, nothing is copied. Where rows take turns, the free processors of the last step are
        already the average until the next.
        """
        past = Past.__new__(Past)
        for name in Past.__slots__:
            setattr(past, name, getattr(self, name))
        past._steps = min(step, self.steps)
        return past

    def until(self, step: int, free: float) -> History:
        """The first so many steps as a history of its own that can go on otherwise.

        `free` are the processors that nothing occupies at the end of them.
        """
        cut, begun = History(), self._begun[step - 1] if step else 0
        cut._rank, cut._start, cut._end = self._rank[:begun], self._start[:begun], self._end[:begun]
        cut._end_step, cut._kind = self._end_step[:begun], self._kind[:begun]
        cut._processors = self._processors[:begun]
        cut._marks = self._marks[: -(-begun // _EVERY)]
        is_open = np.flatnonzero(np.array(cut._end_step) >= step).tolist()
        for stretch in is_open:
            cut._end[stretch], cut._end_step[stretch] = inf, _NEVER
        cut._rows = {stretch: rows for stretch, rows in self._rows.items() if stretch < begun}
        gangs = [stretch for stretch in is_open if cut._kind[stretch] == GANG]
        cut._places = {cut._rank[s]: (cut._processors[s], cut._rows[s], s) for s in gangs}
        cut._time, cut._free, cut._begun = self._time[:step], self._free[:step], self._begun[:step]
        cut._waiting, cut._wanted = self._waiting[:step], self._wanted[:step]
        cut._decision_end = self._decision_end[:step]
        cut._decisions = self._decisions[: cut._decision_end[-1] if step else 0]
        cut.decided = cut._decisions.append
        divisions, clocks = bisect_left(self._boundary_step, step), bisect_left(self._clock_step, step)
        cut._boundaries, cut._boundary_step = self._boundaries[:divisions], self._boundary_step[:divisions]
        cut._clock_since, cut._clocks = self._clock_since[:clocks], self._clocks[:clocks]
        cut._clock_step = self._clock_step[:clocks]
        cut._changes = [change for change in self._changes if change.step <= step]
        if step:
            cut._free[-1] = free
        return cut


class Unwritten(History):
    """For an engine whose history is known already: nothing is written."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.decided = _ignore

    def begin(self, rank: int, now: float, processors: int, kind: int = 0) -> int:
        return -1

    def finish(self, stretch: int, now: float) -> None:
        pass

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        pass

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        pass

    def share(self, now: float, turns: Turns, places: Mapping[int, tuple[int, tuple[int, ...]]]) -> None:
        pass

    def leave_matrix(self, rank: int, now: float) -> None:
        pass

    def mend_free(self, free: float) -> None:
        pass

    def switch(self, now: float, was: str, to: str) -> None:
        pass


def _ignore(decision: Decision) -> None:
    pass


def whole(time: float) -> float:
    """Whole seconds as int, so that they print without a decimal point."""
    return int(time) if time == int(time) else time
