"""A job's stay on processors, as the engine keeps it and as a policy sees it (`sim.view.Stint`)."""

from __future__ import annotations

from sim.history import RUN
from sim.workload.model import Job


class Run:
    """A job on processors: since when, when it will leave them, and when its estimate says so."""

    __slots__ = ("expected_end", "job", "kind", "leaves", "ran_before", "since", "stretch")

    def __init__(
        self, job: Job, since: float, leaves: float, expected_end: float, kind: int, stretch: int, ran: float
    ) -> None:
        self.job, self.since, self.leaves, self.expected_end = job, since, leaves, expected_end
        self.kind, self.stretch, self.ran_before = kind, stretch, ran

    def ran_by(self, now: float) -> float:
        return self.ran_before + now - self.since if self.kind == RUN else self.ran_before

    @property
    def runs(self) -> bool:
        return self.kind == RUN
