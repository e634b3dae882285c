"""Read-only history of a run: which job ran where, when and why, with queries by time and by job.

A *stretch* is a span of time in which a job holds a set of processors. Stretches are numbered in the order in which
they begin. A stretch is open until its end is recorded; meanwhile its end is infinite. After every `MARK_EVERY`
stretches, a mark lists the open ones. So a search of a window of time looks only at the stretches in it and at most
`MARK_EVERY` others.

With time sharing, a stretch of kind "gang" is a stay in the same rows of the matrix. The clock of the rows is recorded
after each step; the turns within a stretch are computed from it when they are read.

A stretch that has ended has a kind of end (`ENDINGS`). Each stretch has a link to the next stretch of the same job.

For every stretch the steps of its begin and end are stored. So the history can be read as it was after any step
(`as_of`), even if two steps have the same time. It can also be cut there and continued differently (`History.until`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from operator import itemgetter

import numpy as np

from sim.decisions.decisions import Decision
from sim.history.decision_log import DecisionLog
from sim.history.processor_sets import ProcessorSets, SetTable
from sim.history.stretch import ENDINGS, KINDS, SUSPENDED, Stretch
from sim.history.times import NEVER, Floats, KnownTimes, Times
from sim.machine.processors import written
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.support.formatting import exact_clock
from sim.workload.model import Ints, Workload, there_at
from sim.workload.outages import Outage

MARK_EVERY = 256


@dataclass(frozen=True)
class Switch:
    """Change of the policy during a run.

    `step` is the number of steps up to and including the step of the change, 0 if not known yet. In a planned change, 1
    means that it replaces the first policy before that has decided.
    """

    step: int
    time: float
    policy: Policy
    """Policy requested by the user, possibly an adaptive one, which selects other policies."""
    was: str = ""
    """Text that describes the policy before the switch, as users see it."""
    planned: Mapping[int, float] = field(default_factory=dict, compare=False, repr=False)
    """For each job (by rank): start that the policy before the switch had planned for it."""
    by_rule: bool = False
    """True if an adaptive policy made the switch by its own rule. When the run is repeated, the policy makes this
    switch again by itself.
    """
    breaks: tuple[int, float] | None = None
    """Failure of processors that the user tries out, as (processors as bits, time of their return); the policy then
    does not change. None for a change of the policy.
    """
    is_after: bool = field(default=False, compare=False)
    """True for a switch requested for a future time; it happens after all other events of that time."""

    @property
    def spec(self) -> str:
        return written_policy(self.policy)

    @property
    def called(self) -> str:
        return self.spec if self.breaks is None else f"processors {written(self.breaks[0])} fail"


def specs_of(spec: str, switches: Sequence[Switch]) -> str:
    """Return the specs of all policies of a run, each later one with the time of its switch; the run began with `spec`.

    >>> from sim.policies import parse_policy
    >>> specs_of("easy", [Switch(3, 600.5, parse_policy("fcfs"), "easy")]), specs_of("fcfs", [])
    ('easy, from d0 00:10:00.5 on fcfs', 'fcfs')
    """
    changes = (f", from {exact_clock(one.time)} on {one.spec}" for one in switches if one.breaks is None)
    return spec + "".join(changes)


class Past:
    """Read-only history of one run, up to a certain step. An object returned by `as_of` does not change when the run
    goes on.
    """

    __slots__ = (
        "_begun", "_boundaries", "_boundary_step", "_changes", "_clock_since", "_clock_step", "_clocks",
        "_decision_end", "_decisions", "_done", "_end", "_end_step", "_ended_by", "_first", "_free", "_given_up",
        "_kind", "_lost", "_marks", "_next", "_processors", "_rank", "_rows", "_start", "_started", "_steps", "_time",
        "_waiting", "_wanted",
    )  # fmt: skip

    _rank: array[int]
    _start: array[float]
    _end: array[float]
    _end_step: array[int]
    """For each stretch: number of the step in which it ended, counted from 0"""
    _ended_by: bytearray
    """For each stretch: kind of its end, as index into `ENDINGS`; valid only if the stretch has ended"""
    _kind: bytearray
    _processors: ProcessorSets
    _next: array[int]
    """For each stretch: number of the next stretch of the same job; -1 if there is none"""
    _marks: list[Ints]
    """One list for every `MARK_EVERY` stretches: numbers of the stretches that were open at this point, or after which
    the job was suspended
    """
    _lost: dict[int, tuple[int, float]]
    """For each suspended job that lost processors which it needed to resume, by the number of its last stretch: step
    and time of the loss
    """
    _given_up: dict[int, int]
    """For each job (by rank) that was cancelled because it can never run: number of the step in which this happened"""
    _first: array[int]
    """For each rank: number of the job's first stretch; -1 if there is none"""
    _started: Times
    """For each job: time at which it first ran"""
    _done: Times
    """For each job: time at which it finished, or was killed at its estimate"""
    _rows: dict[int, tuple[int, ...]]
    """For each stretch of the kind "gang", by its number: rows of the matrix that held the job"""
    _time: array[float]
    _free: array[float]
    _waiting: array[int]
    _wanted: array[int]
    _begun: array[int]
    """For each step: number of stretches that had begun by the end of the step"""
    _decisions: DecisionLog
    _decision_end: array[int]
    _boundaries: list[tuple[float, tuple[int, ...]]]
    _boundary_step: array[int]
    _clock_since: array[float]
    _clocks: list[Turns]
    _clock_step: array[int]
    _changes: list[Switch]
    _steps: int | None
    """Number of steps that this object shows; None for all, including what was recorded after the last step"""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.steps:,} steps>"

    @property
    def steps(self) -> int:
        return len(self._time) if self._steps is None else self._steps

    @property
    def last_time(self) -> float:
        """Return the time of the last step that this object shows; -inf if it shows none."""
        return self._time[self.steps - 1] if self.steps else -inf

    def as_of(self, step: int) -> Past:
        """Return the history as it was after `step` steps: stretches that ended later are open, and stretches that
        began later are missing.

        The columns are shared, nothing is copied. If the rows of the matrix take turns, the number of free processors
        after the last step is the average until the next step.
        """
        past = Past.__new__(Past)
        for name in Past.__slots__:
            setattr(past, name, getattr(self, name))
        past._steps = min(step, self.steps)
        return past

    def __len__(self) -> int:
        if self._steps is None:
            return len(self._start)
        return self._begun[self._steps - 1] if self._steps else 0

    def stretch(self, index: int) -> Stretch:
        """Return the stretch with this number, counted in the order of their begins."""
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
        """Return the number, counted from 0, of the first step that this object does not show."""
        return NEVER if self._steps is None else self._steps

    def over_among(self, stretches: Iterable[int]) -> list[int]:
        end_step, now = self._end_step, self._now
        return sorted(index for index in stretches if end_step[index] < now)

    def stretches(self) -> Iterator[Stretch]:
        return map(self.stretch, range(len(self)))

    # By job

    def last_processors(self, jobs: int) -> SetTable:
        last, ranks = np.full(jobs, -1), np.array(self._rank[: len(self)])
        (some,) = (ranks < jobs).nonzero()
        last[ranks[some]] = some
        return self._processors.table(last)

    def of(self, rank: int) -> list[Stretch]:
        return list(map(self.stretch, self._stretches_of_job(rank)))

    def _stretches_of_job(self, rank: int) -> Iterator[int]:
        count, stretch = len(self), self._first[rank] if rank < len(self._first) else -1
        while 0 <= stretch < count:
            yield stretch
            stretch = self._next[stretch]

    def starts(self, jobs: int) -> Floats:
        """Return, for each of the first `jobs` ranks, the time at which it first ran; nan if it has not."""
        return self._started.column(jobs, self._now)

    def ends(self, jobs: int) -> Floats:
        """Return, for each of the first `jobs` ranks, the time of its end or kill at the estimate; nan if neither."""
        return self._done.column(jobs, self._now)

    def event_times(self) -> tuple[KnownTimes, KnownTimes]:
        """Return the first starts and the ends of the jobs, to be looked up by rank."""
        return self._started.known(self._now), self._done.known(self._now)

    def start_of(self, rank: int) -> float | None:
        return self._started.of(rank, self._now)

    def end_of(self, rank: int) -> float | None:
        return self._done.of(rank, self._now)

    def cancelled_at(self, rank: int) -> float | None:
        step = self._given_up.get(rank, self.steps)
        return self.time_of(step) if step < self.steps else None

    def cancelled(self) -> dict[int, float]:
        return {rank: self.time_of(step) for rank, step in self._given_up.items() if step < self.steps}

    def decided_about(self, rank: int, submit: float, since: int = 0) -> Iterator[tuple[int, Decision]]:
        """Yield (step, decision) for all decisions about the job `rank`, from step number `since` on; `submit` is its
        submit time.

        Only steps from its submission to its end are searched, as no other decision can be about it.
        """
        ends, step = self._decision_end, max(since, bisect_left(self._time, submit, 0, self.steps))
        until = self._done.step[rank] + 1 if self._done.has(rank, self._now) else self.steps
        if step < until:
            for row in self._decisions.about(rank, ends[step - 1] if step else 0, ends[until - 1]):
                yield bisect_right(ends, row, step, until), self._decisions[row]

    def beginning(self, rank: int) -> tuple[Stretch, tuple[int, ...]] | None:
        """Return the job's first stretch, and for each partition its processors (bits) at that time. Return None if the
        job has not started.
        """
        stretch = next(self._stretches_of_job(rank), None)
        if stretch is None:
            return None
        division = bisect_right(self._boundary_step, bisect_right(self._begun, stretch)) - 1
        return self.stretch(stretch), self._boundaries[division][1] if division >= 0 else ()

    def there(self, workload: Workload, times: Sequence[float] | Floats) -> Ints:
        broken = (Outage(switch.time, switch.breaks[1], switch.breaks[0]) for switch in self.switches if switch.breaks)
        return there_at((*workload.outages, *broken), workload.procs, times)

    # By time

    def segments(self) -> Iterator[Stretch]:
        """Yield all spans of time in which a job actually used processors, as stretches. If rows take turns, each turn
        is a span of its own.
        """
        now = self._time[self.steps - 1] if self.steps else 0
        for stretch in self.stretches():
            if stretch.rows:
                yield from self.turns(stretch, stretch.start, now if stretch.end is None else stretch.end)
            else:
                yield stretch

    def turns(self, stretch: Stretch, start: float, end: float) -> Iterator[Stretch]:
        """Yield the turns of a job within a stretch of the kind "gang", from `start` until `end`, as stretches. Turns
        that reach beyond this time are cut.
        """
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
        """Return the stretches that were on any of these processors (bits, -1 for all) at some time between `start` and
        `end`.

        The time of the search is proportional to the number of results, not to the length of the history.
        """
        first = bisect_left(self._start, start, 0, len(self))
        last = bisect_left(self._start, end, 0, len(self))
        ends, held, now = self._end, self._processors, self._now
        seen = [i for i in self._under_way(start, first) if ends[i] > start or self._end_step[i] >= now]
        seen += range(first, last)
        return [self.stretch(i) for i in seen if held[i] & processors]

    def pauses(self, start: float, end: float) -> list[Stretch]:
        """Return the suspensions that lasted at some time between `start` and `end`, as stretches of the kind
        "suspended", sorted by their begins.

        A suspension lasts from the end of one stretch to the begin of the job's next one. It ends earlier if processors
        that the job needs to resume go down.
        """
        if SUSPENDED not in self._ended_by:
            return []
        pauses, count, now = [], len(self), self._now
        for i in self._under_way(start, bisect_left(self._start, end, 0, count)):
            if self._ended_by[i] == SUSPENDED and self._end_step[i] < now and self._end[i] < end:
                then, since = self._next[i], self._end[i]
                until = self._start[then] if 0 <= then < count else None
                step, lost = self._lost.get(i, (now, 0.0))
                until = lost if step < now else until
                if until is None or until > max(start, since):
                    goes_on = None if until is None else until
                    pauses.append(Stretch(self._rank[i], since, goes_on, "suspended", self._processors[i]))
        return sorted(pauses, key=itemgetter(1))

    def count_suspended(self, at: Floats) -> Ints:
        """Return, for each of these times, the number of suspended jobs."""
        if SUSPENDED not in self._ended_by:
            return np.zeros(len(at), dtype=np.int64)
        count, now = len(self), self._now
        ended_by, end_step = np.frombuffer(self._ended_by, np.uint8)[:count], np.asarray(self._end_step)[:count]
        paused = np.flatnonzero((ended_by == SUSPENDED) & (end_step < now))
        then, until = np.asarray(self._next)[paused], np.full(len(paused), inf)
        goes_on = (then >= 0) & (then < count)
        until[goes_on] = np.asarray(self._start)[then[goes_on]]
        for stretch, (step, lost) in self._lost.items():
            if step < now:
                until[np.searchsorted(paused, stretch)] = lost
        since = np.sort(np.asarray(self._end)[paused])
        many: Ints = np.searchsorted(since, at, "right") - np.searchsorted(np.sort(until), at, "right")
        return many

    def _under_way(self, start: float, before: int) -> list[int]:
        """Return numbers of stretches, all below `before`. They include all stretches that were open at `start` or
        began later, and those after which the job was suspended at `start`.

        Some of the numbers can be of other stretches, which had ended by `start`; the caller must check that.
        """
        if not self._marks:
            return []
        mark = (
            max(bisect_right(self._start, start, 0, len(self)) - 1, 0) // MARK_EVERY
        )  # the last that was made by then
        return [*self._marks[mark].tolist(), *range(mark * MARK_EVERY, before)]

    def step_at(self, time: float) -> int | None:
        """Return the number of the last step at or before `time`, counted from 0; None before the first."""
        index = bisect_right(self._time, time, 0, self.steps) - 1
        return index if index >= 0 else None

    def time_of(self, step: int) -> float:
        return self._time[step]

    def decisions(self, step: int) -> Sequence[Decision]:
        """Return the decisions of the step with this number (from 0), in the order in which they were made."""
        first = self._decision_end[step - 1] if step else 0
        return [self._decisions[row] for row in range(first, self._decision_end[step])]

    def all_decisions(self, since: int = 0) -> Iterator[tuple[int, Decision]]:
        return ((step, decision) for step in range(since, self.steps) for decision in self.decisions(step))

    @property
    def switches(self) -> tuple[Switch, ...]:
        return tuple(change for change in self._changes if change.step <= self.steps)

    def owners_at(self, time: float) -> tuple[int, ...]:
        """Return the processors (bits) that each partition owned at `time`; empty without partitions."""
        since = self.owners_between(time, nextafter(time, inf))
        return since[-1][1] if since else ()

    def owners_between(self, start: float, end: float) -> list[tuple[float, tuple[int, ...]]]:
        """Return (begin, processors of each partition as bits) of the divisions between `start` and `end`."""
        known = bisect_left(self._boundary_step, self._now)
        first = max(bisect_right(self._boundaries, start, 0, known, key=itemgetter(0)) - 1, 0)
        last = bisect_left(self._boundaries, end, 0, known, key=itemgetter(0))
        return self._boundaries[first:last]

    def turn_at(self, time: float) -> float | None:
        """Return the length of a turn in seconds at `time`, or else before it; None before the first turn."""
        clocks = bisect_left(self._clock_step, self._now)
        clock = bisect_right(self._clock_since, time, 0, clocks) - 1
        return self._clocks[clock].slice if clock >= 0 else None

    def rows_settled(self, since: int = 0) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield (time, ids of the matrix rows) for each recorded change of the rows' clock, from the record with the
        number `since` on.
        """
        for clock in range(since, bisect_left(self._clock_step, self._now)):
            yield self._clock_since[clock], self._clocks[clock].rows

    def times(self, since: int = 0) -> array[float]:
        return self._time[since : self.steps]

    def columns(self) -> tuple[array[float], array[float], array[int], array[int]]:
        """Return new arrays with an entry for each step: its time, then the free processors, the waiting jobs, and the
        processors that these request.
        """
        steps = self.steps
        return self._time[:steps], self._free[:steps], self._waiting[:steps], self._wanted[:steps]

    def at(self, steps: Ints | slice) -> tuple[Floats, Floats, Ints, Ints]:
        """Return, for each of these steps (numbers from 0): time, number of free processors, number of waiting jobs,
        processors that these request.
        """
        time, free, waiting, wanted = map(np.asarray, (self._time, self._free, self._waiting, self._wanted))
        return time[steps], free[steps], waiting[steps], wanted[steps]

    def steps_at(self, times: Floats) -> Ints:
        """Return, for each of these times, the number of the last step at or before it, counted from 0; -1 before the
        first.
        """
        found: Ints = np.searchsorted(np.asarray(self._time)[: self.steps], times, "right") - 1
        return found
