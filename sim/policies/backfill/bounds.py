"""Placement of waiting jobs so that each starts by its latest allowed start (its bound), for the policies `shadow` and
`slack`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sim.decisions.reasons import BreaksNoBound, WithinBounds
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, is_by
from sim.machine.plan import Plan
from sim.workload.model import Job


class Placement(NamedTuple):
    """Result of placing jobs one after another: the starts of the placed jobs and, if there is one, the first job that
    would start after its bound (its latest allowed start).
    """

    starts: dict[int, float]
    late: Job | None = None

    def why(self, jobs: Iterable[Job], bounds: Mapping[int, float]) -> Reason:
        """Return why the job whose start was tried may start now, or may not because other jobs would then start after
        their bounds.

        The reason names the job among `jobs` that is most past its bound or, if all start by their bounds, has the
        least time left.
        """
        margins = [(bounds[job.rank] - self.starts[job.rank], job) for job in jobs if job.rank in self.starts]
        if not margins:
            return WithinBounds(None, 0)
        margin, job = min(margins, key=lambda m: (m[0], m[1].rank))
        past = sum(margin < -MOMENT for margin, _ in margins)
        return BreaksNoBound(job, -margin, past - 1) if past else WithinBounds(job, max(0, margin))


def place_within(
    plan: Plan, jobs: Iterable[Job], bounds: Mapping[int, float], now: float, excused: frozenset[int]
) -> Placement:
    """Place the jobs in the plan in this order, each as early as possible; stop at the first that starts after its
    bound.

    Jobs with a rank in `excused` may start after their bounds.
    """
    starts = {}
    for job in jobs:
        at = starts[job.rank] = plan.put(job, now)
        if not is_by(at, bounds[job.rank]) and job.rank not in excused:
            return Placement(starts, job)
    return Placement(starts)
