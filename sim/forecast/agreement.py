"""Comparison of the starts in a recording of a cluster with those under a policy, by the reasons to wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median

from sim.cluster.values import Cluster, ClusterJob
from sim.engine.schedule import Schedule
from sim.forecast.limits import bounds_of, demands
from sim.workload.limits import Bound, Limits
from sim.workload.model import Workload

NEAR = 60.0
"""Largest difference in seconds between two starts that agree."""
AT_ONCE = "none seen"
"""Name of the reason to wait for jobs that no picture (polled state of the cluster) shows waiting."""
ALL = "all jobs"


@dataclass(frozen=True)
class Agreement:
    """Agreement of the starts of some jobs under a policy with their recorded starts."""

    reason: str
    """Last reason to wait that the recorded scheduler gave for these jobs; `ALL` for all jobs."""
    jobs: int
    near: float
    """Share of the jobs that start within `NEAR` of their recorded start."""
    earlier: float
    """Share of the jobs that start more than `NEAR` earlier than they were recorded."""
    later: float
    median: float
    """Median of the differences in seconds, without their signs."""


@dataclass(frozen=True)
class Seen:
    """Facts about the jobs of a recording that a trace does not have."""

    jobs: Mapping[str, ClusterJob]
    """For each job (by id): its state in the latest picture that shows it."""
    reasons: Mapping[str, str]
    """For each job that was seen waiting (by id): the last reason that the scheduler gave for it."""
    last: Cluster

    @classmethod
    def of(cls, pictures: Iterable[Cluster]) -> Seen:
        """Return the facts from pictures (polled states of a cluster), which must be in order of time."""
        jobs: dict[str, ClusterJob] = {}
        reasons: dict[str, str] = {}
        last = Cluster(0)
        for last in pictures:
            jobs |= {job.id: job for job in last.jobs}
            reasons |= {job.id: job.reason or "None" for job in last.jobs if job.is_waiting}
        return cls(jobs, reasons, last)


def limited(workload: Workload, seen: Seen) -> Workload:
    """Return the workload with the limits of accounts, users and qualities of service (QOS) that were recorded.

    A limit that a job exceeds alone does not apply to that job, because it ran in reality.
    """
    rules = bounds_of(seen.last)
    jobs = [seen.jobs.get(job) for job in workload.ids]
    known = demands([job for job in jobs if job is not None], rules)
    own = iter(known.values())
    listed = (() if job is None else next(own) for job in jobs)
    kept = tuple(tuple(one for one in each if one[1] <= rules[one[0]].limit.most) for each in listed)
    bounds = tuple(Bound(rule.limit.what, int(rule.limit.most), "of it", rule.limit.name) for rule in rules)
    return replace(workload, limits=Limits(bounds, kept)) if any(kept) else workload


def agreements(schedule: Schedule, seen: Seen) -> list[Agreement]:
    """Return the agreement of a schedule with the recorded starts: of all jobs, and by their last reason to wait."""
    recorded = schedule.workload.recorded_start.tolist()
    found: dict[str, list[float]] = defaultdict(list)
    for job, start, came in zip(schedule.workload.ids, schedule.start.tolist(), recorded, strict=True):
        if start == start and came == came:
            for group in (ALL, seen.reasons.get(job, AT_ONCE)):
                found[group].append(start - came)
    made = [_agreement(reason, differences) for reason, differences in found.items()]
    return sorted(made, key=lambda one: (one.reason != ALL, -one.jobs, one.reason))


def _agreement(reason: str, differences: list[float]) -> Agreement:
    return Agreement(
        reason,
        len(differences),
        fmean(abs(one) <= NEAR for one in differences),
        fmean(one < -NEAR for one in differences),
        fmean(one > NEAR for one in differences),
        median(map(abs, differences)),
    )
