"""State after a step as conditions see it (an instant), read from a moment of a run or from a history."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from operator import attrgetter
from typing import Protocol, cast

from sim.code.lines import PassCode
from sim.decisions.decisions import Decision
from sim.engine.view import View
from sim.history.past import Past
from sim.workload.model import Job, Workload


class Instant(Protocol):
    """State after a step, and the events of the step, as conditions need them."""

    @property
    def step(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def procs(self) -> int: ...
    @property
    def free(self) -> float: ...
    @property
    def waiting(self) -> int: ...
    @property
    def wanted(self) -> int: ...
    @property
    def running(self) -> int:
        """Return the number of jobs on processors, or in the matrix."""

    @property
    def suspended(self) -> int: ...
    @property
    def decisions(self) -> Sequence[Decision]: ...
    @property
    def arrived(self) -> Sequence[Job]: ...
    @property
    def completed(self) -> Sequence[Job]: ...
    @property
    def printed(self) -> Sequence[str]: ...
    @property
    def code(self) -> PassCode:
        """Return the lines of the policy's code that ran in this step; empty if they are not recorded."""

    @property
    def head(self) -> Job | None: ...

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        """Yield (job, value) of the policy's number of that name, for each waiting job that has one."""

    def moved(self, job: Job) -> float:
        """Return by how many seconds the planned start of a waiting job moved in this step; negative is earlier."""

    def longest_wait(self) -> float:
        """Return the longest wait so far among the waiting jobs, in seconds."""

    def worst_slowdown(self) -> float:
        """Return the largest (wait + estimate) / estimate among the waiting jobs."""

    def most_overtaken(self) -> int:
        """Return the largest number of later jobs that have passed one waiting job."""


@dataclass(frozen=True)
class OfMoment:
    """State after a step, read from a snapshot, or from the moment of an engine until the engine's next step."""

    moment: View
    code: PassCode = PassCode()
    step = property(attrgetter("moment.step"))
    procs = property(attrgetter("moment.there"))
    free = property(attrgetter("moment.free"))
    waiting = property(attrgetter("moment.counts.waiting"))
    running = property(attrgetter("moment.counts.running"))
    suspended = property(attrgetter("moment.counts.suspended"))
    wanted = property(attrgetter("moment.wanted"))
    decisions = property(attrgetter("moment.decisions"))
    arrived = property(attrgetter("moment.arrived"))
    completed = property(attrgetter("moment.completed"))
    printed = property(attrgetter("moment.printed"))

    @property
    def time(self) -> float:
        time = self.moment.time
        return -inf if time is None else time

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        for column in self.moment.columns:
            if column.name == name:
                notes = self.moment.notes
                for job in self.moment.waiting:
                    if (value := column.value(notes, job)) is not None:
                        yield job, value

    @property
    def head(self) -> Job | None:
        return next(iter(self.moment.waiting), None)

    def moved(self, job: Job) -> float:
        return self.moment.moved(job.rank)

    def longest_wait(self) -> float:
        now = self.moment.time or 0
        return max((job.waited(now) for job in self.moment.waiting), default=0)

    def worst_slowdown(self) -> float:
        now = self.moment.time or 0
        return max(((now - job.submit + job.estimate) / job.estimate for job in self.moment.waiting), default=1)

    def most_overtaken(self) -> int:
        return self.moment.most_overtaken


class Record:
    """Columns of a history (arrays with an entry for each step), prepared for reading one step after another."""

    def __init__(self, history: Past, workload: Workload) -> None:
        self.history, self.workload = history, workload
        self.times, self.free, self.waiting, self.wanted = history.columns()
        self.there: list[int] = history.there(workload, [-inf, *self.times]).tolist()

    @property
    def steps(self) -> int:
        return len(self.times)

    def after(self, step: int) -> Instant:
        """Return the state after `step` steps (0 is the beginning), as far as columns of the history show it."""
        return cast(Instant, OfPast(self, step))


@dataclass(frozen=True)
class OfPast:
    """State after a step, read from columns of a history."""

    record: Record
    step: int

    @property
    def time(self) -> float:
        return self.record.times[self.step - 1] if self.step else -inf

    @property
    def procs(self) -> int:
        return self.record.there[self.step]

    @property
    def free(self) -> float:
        return self.record.free[self.step - 1] if self.step else self.procs

    @property
    def waiting(self) -> int:
        return self.record.waiting[self.step - 1] if self.step else 0

    @property
    def wanted(self) -> int:
        return self.record.wanted[self.step - 1] if self.step else 0

    @property
    def decisions(self) -> Sequence[Decision]:
        return self.record.history.decisions(self.step - 1) if self.step else ()

    @property
    def arrived(self) -> Sequence[Job]:
        if not self.step:
            return ()
        jobs, before = self.record.workload.jobs, self.record.after(self.step - 1).time
        return jobs[bisect_right(jobs, before, key=_submit) : bisect_right(jobs, self.time, key=_submit)]


def _submit(job: Job) -> float:
    return job.submit
