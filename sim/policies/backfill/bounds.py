"""Latest starts: what `shadow` and `slack` have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sim.machine.moment import MOMENT
from sim.machine.profile import Profile
from sim.workload.model import Job


class Trial(NamedTuple):
    """What placing jobs one after another came to: their starts, or the first that came too late."""

    starts: dict[int, float]
    late: Job | None = None

    def tightest(self, jobs: Iterable[Job], bounds: Mapping[int, float]) -> tuple[Job | None, float]:
        """The job that has the least room left before its bound, and how much."""
        margins = [(bounds[job.rank] - self.starts[job.rank], job) for job in jobs if job.rank in self.starts]
        return min(margins, key=lambda m: (m[0], m[1].rank))[::-1] if margins else (None, 0)


def place_within(
    plan: Profile, jobs: Iterable[Job], bounds: Mapping[int, float], now: float, excused: frozenset[int]
) -> Trial:
    """Place the jobs in this order, each at its earliest; stop at the first that starts after its bound."""
    starts = {}
    for job in jobs:
        at = starts[job.rank] = plan.place(job.procs, job.estimate, now)
        if at > bounds[job.rank] + MOMENT and job.rank not in excused:
            return Trial(starts, job)
    return Trial(starts)
