"""States of an observed cluster in the form of steps of a run, so that stop conditions can be applied to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from sim.code.lines import PassCode
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import AsRecorded
from sim.live.cluster.changes import PollEvent
from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Cluster
from sim.workload.model import Job


@dataclass(frozen=True)
class OfPicture:
    """State of a cluster at one poll, with the events since the poll before, in the form of a step of a run."""

    observed: Observed
    picture: int
    cluster: Cluster
    events: tuple[PollEvent, ...]
    printed: ClassVar[Sequence[str]] = ()
    code: ClassVar[PassCode] = PassCode()

    @property
    def step(self) -> int:
        return self.picture + 1

    @property
    def time(self) -> float:
        return self.observed.moments[self.picture]

    @property
    def procs(self) -> int:
        return sum(node.cpus for node in self.cluster.nodes if not node.is_gone)

    @property
    def free(self) -> float:
        return sum(max(node.cpus - node.cpus_taken, 0) for node in self.cluster.nodes if not node.is_gone)

    @property
    def waiting(self) -> int:
        return len(self.cluster.queue)

    @property
    def wanted(self) -> int:
        return sum(job.cpus for job in self.cluster.queue)

    @property
    def running(self) -> int:
        return len(self.cluster.running)

    @property
    def suspended(self) -> int:
        return len(self.cluster.jobs) - self.running - self.waiting - sum(job.has_ended for job in self.cluster.jobs)

    @property
    def decisions(self) -> Sequence[Decision]:
        return tuple(Start(job, AsRecorded(self.time, 0.0)) for job in self._of("start"))

    @property
    def arrived(self) -> Sequence[Job]:
        return self._of("arrival")

    @property
    def completed(self) -> Sequence[Job]:
        return self._of("completion")

    @property
    def head(self) -> Job | None:
        return self._job(self.cluster.queue[0].id) if self.cluster.queue else None

    def numbers(self, name: str) -> Iterator[tuple[Job, float]]:
        return iter(())

    def moved(self, job: Job) -> float:
        return sum(event.by for event in self.events if event.kind == "moved" and event.subject == job.id)

    def longest_wait(self) -> float:
        return max((self.cluster.at - job.submit for job in self.cluster.queue), default=0.0)

    def worst_slowdown(self) -> float:
        waits = ((self.cluster.at - job.submit, job.limit or 86400.0) for job in self.cluster.queue)
        return max((wait / limit + 1 for wait, limit in waits if limit > 0), default=1.0)

    def most_overtaken(self) -> int:
        """Return 0: an observed cluster does not show which jobs passed which."""
        return 0

    @cached_property
    def _jobs(self) -> Sequence[Job]:
        return self.observed.workload.jobs

    def _job(self, id: str) -> Job | None:
        """Return the job; None if it is forgotten, or the other thread is still adding its poll."""
        rank = self.observed.ranks.get(id, len(self._jobs))
        return self._jobs[rank] if rank < len(self._jobs) else None

    def _of(self, kind: str) -> tuple[Job, ...]:
        jobs = (self._job(event.subject) for event in self.events if event.kind == kind)
        return tuple(job for job in jobs if job is not None)
