"""State after a step as conditions see it (an instant), read from a snapshot, an engine or a history.

An engine answers without a snapshot, and a history answers many questions without an engine, so that a search computes
only what its condition needs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, cast

from sim.code.lines import PassCode
from sim.decisions.decisions import Decision
from sim.engine.arrivals import most_overtaken
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.policies.policy import columns_of
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
    def free(self) -> float:
        """Return the number of free processors."""

    @property
    def waiting(self) -> int:
        """Return the number of waiting jobs."""

    @property
    def wanted(self) -> int:
        """Return the total processors requested by the waiting jobs."""

    @property
    def running(self) -> int:
        """Return the number of jobs on processors, or in the matrix."""

    @property
    def suspended(self) -> int:
        """Return the number of suspended jobs."""

    @property
    def decisions(self) -> Sequence[Decision]: ...

    @property
    def arrived(self) -> Sequence[Job]: ...

    @property
    def completed(self) -> Sequence[Job]: ...

    @property
    def printed(self) -> Sequence[str]:
        """Return the lines that the policy printed in this step."""

    @property
    def code(self) -> PassCode:
        """Return the lines of the policy's code that ran in this step; empty if they are not recorded."""

    @property
    def head(self) -> Job | None:
        """Return the first job in the queue, or None."""

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
class OfSnapshot:
    """State after a step, read from a snapshot."""

    snapshot: Snapshot

    @property
    def step(self) -> int:
        return self.snapshot.step

    @property
    def time(self) -> float:
        return -inf if self.snapshot.time is None else self.snapshot.time

    @property
    def procs(self) -> int:
        return self.snapshot.there

    @property
    def free(self) -> float:
        return self.snapshot.free

    @property
    def waiting(self) -> int:
        return len(self.snapshot.queue)

    @property
    def wanted(self) -> int:
        return sum(queued.job.procs for queued in self.snapshot.queue)

    @property
    def running(self) -> int:
        return len(self.snapshot.running)

    @property
    def suspended(self) -> int:
        return len(self.snapshot.suspended)

    @property
    def decisions(self) -> Sequence[Decision]:
        return self.snapshot.decisions

    @property
    def arrived(self) -> Sequence[Job]:
        return self.snapshot.arrived

    @property
    def completed(self) -> Sequence[Job]:
        return self.snapshot.completed

    @property
    def printed(self) -> Sequence[str]:
        return self.snapshot.printed

    @property
    def code(self) -> PassCode:
        return PassCode()

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        for place, column in enumerate(self.snapshot.columns):
            if column.name == name:
                for queued in self.snapshot.queue:
                    if (value := queued.own[place]) is not None:
                        yield queued.job, value

    @property
    def head(self) -> Job | None:
        return self.snapshot.queue[0].job if self.snapshot.queue else None

    def moved(self, job: Job) -> float:
        return next((queued.moved for queued in self.snapshot.queue if queued.job.rank == job.rank), 0)

    def longest_wait(self) -> float:
        return max((queued.waited for queued in self.snapshot.queue), default=0)

    def worst_slowdown(self) -> float:
        return max((queued.xfactor for queued in self.snapshot.queue), default=1)

    def most_overtaken(self) -> int:
        return self.snapshot.most_overtaken


@dataclass(frozen=True)
class OfEngine:
    """State of an engine after its last step; it is valid until the engine's next step."""

    engine: Engine
    code: PassCode = PassCode()

    @property
    def step(self) -> int:
        return self.engine.step_count

    @property
    def time(self) -> float:
        return self.engine.now if self.engine.step_count else -inf

    @property
    def procs(self) -> int:
        return self.engine.state.machine.size

    @property
    def free(self) -> float:
        return self.engine.state.free

    @property
    def waiting(self) -> int:
        return len(self.engine.state.queue)

    @property
    def wanted(self) -> int:
        return sum(job.procs for job in self.engine.state.queue)

    @property
    def running(self) -> int:
        sharing = self.engine.state.sharing
        return len(self.engine.state.running) if sharing is None else len(sharing.ran)

    @property
    def suspended(self) -> int:
        return len(self.engine.state.suspended)

    @property
    def decisions(self) -> Sequence[Decision]:
        if self.engine.curious:
            return self.engine.state.decisions
        return self.engine.history.decisions(self.engine.history.steps - 1) if self.engine.history.steps else ()

    @property
    def arrived(self) -> Sequence[Job]:
        return self.engine.state.arrived

    @property
    def completed(self) -> Sequence[Job]:
        return self.engine.state.completed

    @property
    def printed(self) -> Sequence[str]:
        return self.engine.state.printed

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        state = self.engine.state
        for column in columns_of(state.policy):
            if column.name == name:
                for job in state.queue:
                    if (value := column.value(state.notes, job)) is not None:
                        yield job, value

    @property
    def head(self) -> Job | None:
        return next(iter(self.engine.state.line), None)

    def moved(self, job: Job) -> float:
        waits = job.rank in self.engine.state.reserved or job.rank in self.engine.state.expected
        return self.engine.state.moved.get(job.rank, 0) if waits else 0

    def longest_wait(self) -> float:
        return max((job.waited(self.engine.now) for job in self.engine.state.queue), default=0)

    def worst_slowdown(self) -> float:
        now = self.engine.now
        return max(((now - job.submit + job.estimate) / job.estimate for job in self.engine.state.queue), default=1)

    def most_overtaken(self) -> int:
        return most_overtaken(self.engine.state)


class Record:
    """Columns of a history (arrays with an entry for each step), prepared for reading one step after another."""

    def __init__(self, history: Past, workload: Workload) -> None:
        self.history, self.workload = history, workload
        self.times, self.free, self.waiting, self.wanted = history.columns()
        self.there: list[int] = history.there(workload, [-inf, *self.times]).tolist()

    @property
    def steps(self) -> int:
        """Return the number of steps."""
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
