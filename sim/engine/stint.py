"""A job's stay on processors, as the engine keeps it and as a policy sees it (`sim.policies.view.Stint`)."""

from __future__ import annotations

from dataclasses import dataclass

from sim.history.history import RUN
from sim.workload.model import Job


@dataclass(slots=True)
class Run:
    """A job on processors: since when, when it will leave them, and when its estimate says so."""

    job: Job
    since: float
    leaves: float
    expected_end: float
    kind: int
    """As in `sim.history.history.KINDS`."""
    stretch: int
    """Its number in the history."""
    ran_before: float = 0
    is_cut: bool = False
    """A speculative run that will reach its limit: the job is killed and waits again."""

    def copy(self) -> Run:
        return Run(
            self.job, self.since, self.leaves, self.expected_end, self.kind, self.stretch, self.ran_before, self.is_cut
        )

    def ran_by(self, now: float) -> float:
        return self.ran_before + now - self.since if self.kind == RUN else self.ran_before

    @property
    def runs(self) -> bool:
        return self.kind == RUN
