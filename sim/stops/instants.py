"""What a condition may ask of a step: one narrow view of a snapshot, of an engine and of the past.

An engine answers without making a snapshot, a history much without an engine, so that a search through a long run
pays only for what its condition asks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol, cast

from sim.decisions.decisions import Decision
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.policies.policy import columns_of
from sim.workload.model import Job, Workload


class Instant(Protocol):
    """The state after a step, and what happened in it."""

    @property
    def step(self) -> int: ...

    @property
    def time(self) -> float: ...

    @property
    def procs(self) -> int: ...

    @property
    def free(self) -> float:
        """Processors that nothing occupies."""

    @property
    def waiting(self) -> int:
        """Jobs that wait."""

    @property
    def wanted(self) -> int:
        """Processors that the waiting jobs ask for together."""

    @property
    def running(self) -> int:
        """Jobs on processors, or in the matrix."""

    @property
    def suspended(self) -> int:
        """Suspended jobs."""

    @property
    def decisions(self) -> Sequence[Decision]: ...

    @property
    def arrived(self) -> Sequence[Job]: ...

    @property
    def completed(self) -> Sequence[Job]: ...

    @property
    def printed(self) -> Sequence[str]:
        """What the policy printed."""

    @property
    def head(self) -> Job | None:
        """Who is first in the queue."""

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        """The numbers of the policy's own that are called so, of those that wait."""

    def moved(self, job: Job) -> float:
        """By how much the planned start of a waiting job moved in this step; negative is earlier."""

    def longest_wait(self) -> float:
        """The longest time that a waiting job has waited."""

    def worst_slowdown(self) -> float:
        """The greatest (wait + estimate) / estimate of a waiting job."""

    def most_overtaken(self) -> int:
        """Of a waiting job, how many came later and wait no longer: the most."""


@dataclass(frozen=True)
class OfSnapshot:
    """A snapshot as an instant."""

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
        shown = self.snapshot
        begun = {run.job.rank for run in shown.running} | {halted.job.rank for halted in shown.suspended}
        submitted = shown.totals.finished + len(begun) + len(shown.queue) + len(shown.dropped)
        return _most_overtaken(submitted, (job.rank for job in shown.queue.jobs), shown.dropped)


@dataclass(frozen=True)
class OfEngine:
    """The present of an engine; to be read before its next step."""

    engine: Engine

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
        state = self.engine.state
        return _most_overtaken(state.submitted, state.waiting.jobs, state.dropped)


def _most_overtaken(submitted: int, waiting: Iterable[int], dropped: Sequence[int]) -> int:
    """By the ranks of those who wait and of those who were given up.

    >>> _most_overtaken(6, [1, 4], []), _most_overtaken(6, [1, 4], [5])
    (3, 2)
    """
    stay = sorted((*waiting, *dropped))
    later = {rank: submitted - 1 - rank - (len(stay) - 1 - place) for place, rank in enumerate(stay)}
    return max((count for rank, count in later.items() if rank not in dropped), default=0)


class Record:
    """The columns of a history, for looking at one step after the other."""

    def __init__(self, history: Past, workload: Workload) -> None:
        self.history, self.workload = history, workload
        self.times, self.free, self.waiting, self.wanted = history.columns()
        self.there: list[int] = history.there(workload, [-inf, *self.times]).tolist()

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.times)

    def after(self, step: int) -> Instant:
        """The instant after so many steps, 0 being before the first; only what the columns tell may be asked of it."""
        return cast(Instant, OfPast(self, step))


@dataclass(frozen=True)
class OfPast:
    """What the columns of a record tell of a step."""

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
