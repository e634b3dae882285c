"""A job's stay on processors: what is known of it while it lasts. A policy sees it as a `RunningJob`."""

from __future__ import annotations

from typing import NamedTuple

from sim.history.stretch import RUN, SPECULATIVE
from sim.workload.model import Job


class Allocation(NamedTuple):
    """A job on processors: since when, and until when by its estimate. When it truly ends is not known here."""

    job: Job
    since: float
    expected_end: float
    kind: int
    """As in `sim.history.stretch.KINDS`."""
    stretch: int
    """Its number in the history."""
    ran_before: float = 0.0

    def ran_by(self, now: float) -> float:
        return self.ran_before + now - self.since if self.kind in (RUN, SPECULATIVE) else self.ran_before

    @property
    def runs(self) -> bool:
        return self.kind == RUN
