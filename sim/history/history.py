"""What ran where and when, and why: columns that only grow, and that a chart can query by time.

A *stretch* is a span of time in which a job holds a set of processors. Stretches are appended in the order in
which they begin; the end of an open one is infinite until it is closed. Every `MARK_EVERY` stretches the open ones
are marked, so that a window of time is answered by looking at what is in it and at most `MARK_EVERY` more.

Where jobs share processors in time, a stretch of kind "gang" is a stay in the same rows of the matrix. How the rows
took turns is known from their clock after each step; the turns of a stretch are derived when somebody looks.

A stretch that has ended says why (`ENDINGS`); those of one job are linked and read without a look at any other's.

It is known of every stretch in which steps it began and ended, so the past can be read as it was after any step
(`as_of`), and cut there and continued differently (`until`): two steps may have the same time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from operator import itemgetter

import numpy as np

from sim.decisions.decisions import Decision
from sim.history.decided import A_ROW, Decided
from sim.history.processor_sets import ProcessorSets
from sim.history.stretch import DONE, ENDINGS, GANG, KILLED, KINDS, MOVED, SUSPENDED, Stretch
from sim.history.times import NEVER, Floats, Times
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.workload.model import Job

MARK_EVERY = 256
_A_STEP, _A_STRETCH = 36, 72
"""About how many bytes each takes"""


@dataclass(frozen=True)
class Switch:
    """Another policy takes over: the run has made so many steps then, that one included (0: that is not known yet)."""

    step: int
    time: float
    policy: Policy
    was: str = ""
    """The policy before it, as text."""
    planned: Mapping[int, float] = field(default_factory=dict, compare=False, repr=False)
    """rank -> start, as the policy before it left them."""

    @property
    def spec(self) -> str:
        return written_policy(self.policy)


class Past:
    """The past of one run up to some step, for reading. Made by `History.as_of`; a `History` is one that goes on."""

    __slots__ = (
        "_begun", "_boundaries", "_boundary_step", "_changes", "_clock_since", "_clock_step", "_clocks",
        "_decision_end", "_decisions", "_done", "_end", "_end_step", "_ended_by", "_first", "_free", "_kind",
        "_marks", "_next", "_processors", "_rank", "_rows", "_start", "_started", "_steps", "_time", "_waiting",
        "_wanted",
    )  # fmt: skip

    _rank: array[int]
    _start: array[float]
    _end: array[float]
    _end_step: array[int]
    """In which step, counted from 0, the stretch ended"""
    _ended_by: bytearray
    """An index into `ENDINGS`, of those that have ended"""
    _kind: bytearray
    _processors: ProcessorSets
    _next: array[int]
    """The next stretch of the same job; -1: none"""
    _marks: list[tuple[int, ...]]
    """The stretches that are open, or after which their job is suspended"""
    _first: array[int]
    """rank -> the first stretch of the job; -1: none"""
    _started: Times
    """When each job first ran"""
    _done: Times
    """When each job was done, or killed at its estimate"""
    _rows: dict[int, tuple[int, ...]]
    """stretch -> rows, of those of kind gang"""
    _time: array[float]
    _free: array[float]
    _waiting: array[int]
    _wanted: array[int]
    _begun: array[int]
    """How many stretches had begun by the end of each step"""
    _decisions: Decided
    _decision_end: array[int]
    _boundaries: list[tuple[float, tuple[int, ...]]]
    _boundary_step: array[int]
    _clock_since: array[float]
    _clocks: list[Turns]
    _clock_step: array[int]
    _changes: list[Switch]
    _steps: int | None
    """How many steps are looked at; None: all, and what has happened since the last"""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.steps:,} steps>"

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self._time) if self._steps is None else self._steps

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

    def __len__(self) -> int:
        """How many stretches there are."""
        if self._steps is None:
            return len(self._start)
        return self._begun[self._steps - 1] if self._steps else 0

    def stretch(self, index: int) -> Stretch:
        """That stretch, counted from 0 in the order in which they began."""
        open_ = self._end_step[index] >= self._now
        return Stretch(
            self._rank[index],
            self._start[index],
            None if open_ else self._end[index],
            KINDS[self._kind[index]],
            self._processors[index],
            self._rows.get(index, ()),
            None if open_ else ENDINGS[self._ended_by[index]],
        )

    @property
    def _now(self) -> int:
        """What happened in this step, or later, is not seen."""
        return NEVER if self._steps is None else self._steps

    def stretches(self) -> Iterator[Stretch]:
        """All of them, in the order in which they began."""
        return map(self.stretch, range(len(self)))

    # By job

    def of(self, rank: int) -> list[Stretch]:
        """The job's stretches, in order."""
        return list(map(self.stretch, self._of(rank)))

    def _of(self, rank: int) -> Iterator[int]:
        count, stretch = len(self), self._first[rank] if rank < len(self._first) else -1
        while 0 <= stretch < count:
            yield stretch
            stretch = self._next[stretch]

    def starts(self, jobs: int) -> Floats:
        """When each of so many jobs first ran, by rank: nan if it has not, or stood in rows that were not on turn."""
        return self._started.column(jobs, self._now)

    def ends(self, jobs: int) -> Floats:
        """When each of so many jobs was done, or killed at its estimate; nan if it was not."""
        return self._done.column(jobs, self._now)

    def start_of(self, rank: int) -> float | None:
        """When the job first ran; None if it has not."""
        return self._started.of(rank, self._now)

    def end_of(self, rank: int) -> float | None:
        """When the job was done, or killed at its estimate; None if it was not."""
        return self._done.of(rank, self._now)

    def decided_about(self, rank: int, submit: float, since: int = 0) -> Iterator[tuple[int, Decision]]:
        """(step, decision) of all about a job, from that step on.

        Nothing is decided about it before it comes or when it is done: no such step is looked at.
        """
        ends, step = self._decision_end, max(since, bisect_left(self._time, submit, 0, self.steps))
        until = self._done.step[rank] + 1 if self._done.has(rank, self._now) else self.steps
        if step < until:
            for row in self._decisions.about(rank, ends[step - 1] if step else 0, ends[until - 1]):
                yield bisect_right(ends, row, step, until), self._decisions[row]

    def beginning(self, rank: int) -> tuple[Stretch, tuple[int, ...]] | None:
        """The stretch with which the job begins, and what each partition owned then; None: it has not begun."""
        stretch = next(self._of(rank), None)
        if stretch is None:
            return None
        division = bisect_right(self._boundary_step, bisect_right(self._begun, stretch)) - 1
        return self.stretch(stretch), self._boundaries[division][1] if division >= 0 else ()

    # By time

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
        clocks = bisect_left(self._clock_step, self._now)
        clock = max(bisect_right(self._clock_since, start, 0, clocks) - 1, 0)
        row, begun, ended = -1, start, start
        while start < end and clock < clocks:
            until = min(end, self._clock_since[clock + 1]) if clock + 1 < clocks else end
            for turn in self._clocks[clock].window(start, until):
                if turn.row not in stretch.rows:
                    continue
                if turn.row != row or turn.begin != ended:
                    if ended > begun:
                        yield stretch.turn(begun, ended, (row,))
                    row, begun = turn.row, turn.begin
                ended = turn.end
            start, clock = until, clock + 1
        if ended > begun:
            yield stretch.turn(begun, ended, (row,))

    def between(self, start: float, end: float, processors: int = -1) -> list[Stretch]:
        """What ran on these processors (default: on any) at some moment from `start` until `end`.

        Takes time in proportion to what is visible, however long the history is.
        """
        first = bisect_left(self._start, start, 0, len(self))
        last = bisect_left(self._start, end, 0, len(self))
        ends, held, now = self._end, self._processors, self._now
        seen = [i for i in self._under_way(start, first) if ends[i] > start or self._end_step[i] >= now]
        seen += range(first, last)
        return [self.stretch(i) for i in seen if held[i] & processors]

    def pauses(self, start: float, end: float) -> list[Stretch]:
        """Which jobs were suspended at some moment from `start` until `end`, and where, in the order of these pauses.

        A pause, of kind "suspended", lasts from the end of a stretch to the beginning of the job's next one.
        """
        if SUSPENDED not in self._ended_by:
            return []
        pauses, count, now = [], len(self), self._now
        for i in self._under_way(start, bisect_left(self._start, end, 0, count)):
            if self._ended_by[i] == SUSPENDED and self._end_step[i] < now and self._end[i] < end:
                then, since = self._next[i], self._end[i]
                until = self._start[then] if 0 <= then < count else None
                if until is None or until > max(start, since):
                    goes_on = None if until is None else until
                    pauses.append(Stretch(self._rank[i], since, goes_on, "suspended", self._processors[i]))
        return sorted(pauses, key=itemgetter(1))

    def _under_way(self, start: float, before: int) -> list[int]:
        """The stretches before that one, but for some that were over, with the pause after them, by `start`."""
        if not self._marks:
            return []
        mark = (
            max(bisect_right(self._start, start, 0, len(self)) - 1, 0) // MARK_EVERY
        )  # the last that was made by then
        return [*self._marks[mark], *range(mark * MARK_EVERY, before)]

    def step_at(self, time: float) -> int | None:
        """The last step at or before `time`, counted from 0; None before the first."""
        index = bisect_right(self._time, time, 0, self.steps) - 1
        return index if index >= 0 else None

    def time_of(self, step: int) -> float:
        """When that step, counted from 0, was."""
        return self._time[step]

    def decisions(self, step: int) -> Sequence[Decision]:
        """What was decided in that step, in order."""
        first = self._decision_end[step - 1] if step else 0
        return [self._decisions[row] for row in range(first, self._decision_end[step])]

    def all_decisions(self, since: int = 0) -> Iterator[tuple[int, Decision]]:
        """(step, decision) from that step on."""
        return ((step, decision) for step in range(since, self.steps) for decision in self.decisions(step))

    @property
    def switches(self) -> tuple[Switch, ...]:
        """Every switch of the policy so far."""
        return tuple(change for change in self._changes if change.step <= self.steps)

    def owners_at(self, time: float) -> tuple[int, ...]:
        """Which processors each partition owned then; empty without partitions."""
        since = self.owners_between(time, nextafter(time, inf))
        return since[-1][1] if since else ()

    def owners_between(self, start: float, end: float) -> list[tuple[float, tuple[int, ...]]]:
        """(since when, owners) of every division that held at some moment from `start` until `end`."""
        known = bisect_left(self._boundary_step, self._now)
        first = max(bisect_right(self._boundaries, start, 0, known, key=itemgetter(0)) - 1, 0)
        last = bisect_left(self._boundaries, end, 0, known, key=itemgetter(0))
        return self._boundaries[first:last]

    def turn_at(self, time: float) -> float | None:
        """How long rows were on turn then, or had been before; None: they have never taken turns."""
        clocks = bisect_left(self._clock_step, self._now)
        clock = bisect_right(self._clock_since, time, 0, clocks) - 1
        return self._clocks[clock].slice if clock >= 0 else None

    def rows_settled(self, since: int = 0) -> Iterator[tuple[float, tuple[int, ...]]]:
        """(time, rows of the matrix) each time that they were settled, but for so many of the first."""
        for clock in range(since, bisect_left(self._clock_step, self._now)):
            yield self._clock_since[clock], self._clocks[clock].rows

    def columns(self) -> tuple[array[float], array[float], array[int], array[int]]:
        """time, free, waiting and wanted after each step: copies."""
        steps = self.steps
        return self._time[:steps], self._free[:steps], self._waiting[:steps], self._wanted[:steps]


class History(Past):
    """The past of one run, to which the engine adds."""

    __slots__ = ("_last", "_new", "_places", "decided")

    decided: Callable[[Decision], None]
    """The engine applied this decision."""

    def __init__(self, jobs: Sequence[Job] = ()) -> None:
        """`jobs` are those that decisions may be about, by rank."""
        self._rank, self._start, self._end = array("i"), array("d"), array("d")
        self._end_step, self._begun, self._waiting, self._wanted = array("i"), array("i"), array("i"), array("l")
        self._ended_by, self._kind, self._processors = bytearray(), bytearray(), ProcessorSets()
        self._marks = []
        self._next, self._first, self._last = array("i"), array("i"), array("i")
        self._started, self._done = Times(), Times()
        self._time, self._free = array("d"), array("d")
        self._decisions, self._decision_end = Decided(jobs), array("i")
        self.decided = self._decisions.append
        self._boundaries, self._boundary_step = [], array("l")
        self._places: dict[int, tuple[int, tuple[int, ...], int]] = {}
        """rank -> (columns, rows, stretch) of the jobs in the matrix"""
        self._new: set[int] = set()
        """Those of them that have never been on turn"""
        self._rows = {}
        self._clock_since, self._clocks, self._clock_step = array("d"), [], array("l")
        self._changes, self._steps = [], None

    # Written by the engine

    def begin(self, rank: int, now: float, processors: int, kind: int = 0) -> int:
        """A stretch begins; the number that is returned closes it."""
        stretch, last = len(self._start), self._last
        if not stretch % MARK_EVERY:
            self._marks.append(tuple(self._open()))
        if rank >= len(last):
            self._make_room(max(rank + 1 - len(last), len(last)))
        if (before := last[rank]) < 0:
            self._first[rank] = stretch
        else:
            self._next[before] = stretch
        last[rank] = stretch
        started = self._started
        if kind != GANG and started.step[rank] == NEVER:
            started.at[rank], started.step[rank] = now, len(self._time)
        self._rank.append(rank)
        self._start.append(now)
        self._end.append(inf)
        self._end_step.append(NEVER)
        self._ended_by.append(DONE)
        self._kind.append(kind)
        self._processors.append(processors)
        self._next.append(-1)
        return stretch

    def finish(self, stretch: int, now: float, ended_by: int = DONE) -> None:
        """The stretch is over."""
        self._end[stretch] = now
        self._end_step[stretch] = step = len(self._time)
        self._ended_by[stretch] = ended_by
        if ended_by <= KILLED:
            rank = self._rank[stretch]
            self._done.at[rank], self._done.step[rank] = now, step

    def _make_room(self, more: int) -> None:
        """For so many more jobs, of whom nothing is known."""
        for links in (self._first, self._last):
            links.extend(array("i", [-1]) * more)
        self._started.make_room(more)
        self._done.make_room(more)

    def close_step(self, now: float, free: int, waiting: int, wanted: int) -> None:
        """A step is complete."""
        self._time.append(now)
        self._free.append(free)
        self._waiting.append(waiting)
        self._wanted.append(wanted)
        self._decision_end.append(len(self._decisions.forms))
        self._begun.append(len(self._start))

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        """From now on the partitions own these processors."""
        step = len(self._time)
        if self._boundary_step and self._boundary_step[-1] == step:
            self._boundaries.pop()
            self._boundary_step.pop()
        self._boundaries.append((now, tuple(owners)))
        self._boundary_step.append(step)

    def share(self, now: float, turns: Turns, places: Iterable[tuple[int, int, tuple[int, ...]]]) -> None:
        """From now on the rows go by this clock, and each job has its place: (rank, columns, rows)."""
        self._clock_since.append(now)
        self._clocks.append(turns.copy())
        self._clock_step.append(len(self._time))
        all_known = self._places
        for rank, columns, rows in places:
            known = all_known.get(rank)
            if known is None or known[1] != rows or known[0] != columns:
                if known is not None:
                    self.finish(known[2], now, MOVED)
                stretch = self.begin(rank, now, columns, GANG)
                self._rows[stretch] = rows
                all_known[rank] = columns, rows, stretch
                if not self._started.has(rank):
                    self._new.add(rank)
        for rank in [rank for rank in self._new if turns.row in self._places[rank][1]]:
            self._started.note(rank, now, len(self._time))
            self._new.remove(rank)

    def leave_matrix(self, rank: int, now: float, ended_by: int) -> None:
        """The job stands in no row any more."""
        self.finish(self._places.pop(rank)[2], now, ended_by)
        self._new.discard(rank)

    def mend_free(self, free: float) -> None:
        """So many processors were free on average since the last step."""
        self._free[-1] = free

    def switch(self, switch: Switch) -> None:
        """Another policy takes over in this step."""
        self._changes.append(switch)

    def open_stretches(self) -> dict[int, int]:
        """rank -> stretch, of every job that is on processors or in the matrix."""
        return {self._rank[stretch]: stretch for stretch in self._open() if self._end[stretch] == inf}

    def _open(self) -> list[int]:
        """The stretches that have not ended, or are followed by a pause: of those of the last mark, and those since."""
        known = self._under_way(inf, len(self._end))
        return [i for i in known if self._end[i] == inf or (self._ended_by[i] == SUSPENDED and self._next[i] < 0)]

    @property
    def processor_sets(self) -> ProcessorSets:
        """Those of the stretches."""
        return self._processors

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        columns = _A_STEP * self.steps + _A_STRETCH * len(self)
        return columns + A_ROW * len(self._decisions) + self._processors.size

    # Cut at another moment

    def until(self, step: int, free: float) -> History:
        """The first so many steps as a history of its own that can go on otherwise.

        `free` are the processors that nothing occupies at the end of them.
        """
        cut, begun = History(), self._begun[step - 1] if step else 0
        cut._rank, cut._start, cut._end = self._rank[:begun], self._start[:begun], self._end[:begun]
        cut._end_step, cut._kind = self._end_step[:begun], self._kind[:begun]
        cut._ended_by, cut._processors = self._ended_by[:begun], self._processors.until(begun)
        cut._marks = self._marks[: -(-begun // MARK_EVERY)]
        is_open = np.flatnonzero(np.array(cut._end_step) >= step).tolist()
        for stretch in is_open:
            cut._end[stretch], cut._end_step[stretch], cut._ended_by[stretch] = inf, NEVER, DONE
        cut._rows = {stretch: rows for stretch, rows in self._rows.items() if stretch < begun}
        gangs = [stretch for stretch in is_open if cut._kind[stretch] == GANG]
        cut._places = {cut._rank[s]: (cut._processors[s], cut._rows[s], s) for s in gangs}
        cut._next = array("i", [then if then < begun else -1 for then in self._next[:begun]])
        cut._first = array("i", [first if first < begun else -1 for first in self._first])
        cut._last = array("i", [-1]) * len(self._last)
        for stretch, rank in enumerate(cut._rank):
            cut._last[rank] = stretch
        cut._started, cut._done = self._started.until(step), self._done.until(step)
        cut._new = {rank for rank in cut._places if not cut._started.has(rank)}
        cut._time, cut._free, cut._begun = self._time[:step], self._free[:step], self._begun[:step]
        cut._waiting, cut._wanted = self._waiting[:step], self._wanted[:step]
        cut._decision_end = self._decision_end[:step]
        cut._decisions = self._decisions.until(cut._decision_end[-1] if step else 0)
        cut.decided = cut._decisions.append
        divisions, clocks = bisect_left(self._boundary_step, step), bisect_left(self._clock_step, step)
        cut._boundaries, cut._boundary_step = self._boundaries[:divisions], self._boundary_step[:divisions]
        cut._clock_since, cut._clocks = self._clock_since[:clocks], self._clocks[:clocks]
        cut._clock_step, cut._changes = self._clock_step[:clocks], [c for c in self._changes if c.step <= step]
        if step:
            cut._free[-1] = free
        return cut
