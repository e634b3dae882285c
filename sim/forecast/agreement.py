"""Comparison of the starts in a recording of a cluster with the starts under a policy, for each reason to wait."""

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
"""Name that stands in place of a reason to wait, for the group of jobs that no picture (polled state of the cluster)
shows waiting.
"""
ALL = "all jobs"


@dataclass(frozen=True)
class Agreement:
    """Agreement between the starts of a group of jobs under a policy and their recorded starts."""

    reason: str
    """Last reason to wait that the scheduler gave for the jobs of this group; `ALL` for the group of all jobs."""
    jobs: int
    near: float
    """Share of the jobs that start at most `NEAR` seconds before or after their recorded start."""
    earlier: float
    """Share of jobs that start more than `NEAR` seconds before their recorded start; `later` is the share that start
    more than `NEAR` seconds after it.
    """
    later: float
    median: float
    """Median of the absolute differences between the two starts, in seconds."""


@dataclass(frozen=True)
class Seen:
    """Facts about the jobs of a recording that are lost when the recording is converted to a trace."""

    jobs: Mapping[str, ClusterJob]
    """For each job (by id): its data in the latest picture (polled state of the cluster) that contains the job."""
    reasons: Mapping[str, str]
    """For each job (by id) that a picture shows waiting: the last reason to wait that the scheduler gave for it."""
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
    """Return the workload with the limits of accounts, users and QOS (Slurm's qualities of service) that were recorded.

    A limit does not apply to a job that exceeds it even alone, because that job did run in reality.
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
    """Return agreements of a schedule with the recorded starts: one for all jobs, and one for each last reason to
    wait.
    """
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
