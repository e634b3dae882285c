"""Expected starts of the waiting jobs of one picture as spans of time, and the reasons why a job has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sim.cluster.values import PLANNED_FOR, Cluster, ClusterJob
from sim.forecast.forecast import LEARNT, LIMITS, Model, can_be_forecast, forecast
from sim.forecast.limits import bounds_of, demands
from sim.forecast.past import Past

SHORT = Model("short jobs", quantile=0.1)
"""Model in which jobs end as early as a tenth of the earlier ones did."""


class Expected(NamedTuple):
    """Expected start of a job, in seconds since 1970."""

    low: float
    """Start if jobs end as early as a tenth of the earlier ones did."""
    middle: float
    """Start if half of the earlier jobs ended that early."""
    high: float
    """Start if every job runs to its limit."""


MOST = 60
"""Waiting jobs that are run forward at once, as a forecast of hundreds takes minutes."""


def trimmed(cluster: Cluster, job: str = "", most: int = MOST, behind: int = 0) -> Cluster:
    """Return the cluster with the first waiting jobs that can be forecast.

    With the id of a job all jobs ahead of it are kept, itself, and so many jobs behind it.
    """
    queue = [each for each in cluster.queue if can_be_forecast(each)]
    place = next((at for at, each in enumerate(queue) if each.id == job), None)
    kept = {each.id for each in queue[: most if place is None else place + 1 + behind]}
    return replace(cluster, jobs=tuple(each for each in cluster.jobs if not each.is_waiting or each.id in kept))


def expected(cluster: Cluster, past: Past) -> Mapping[str, Expected]:
    """Return the expected starts by job, of the jobs whose reason for waiting is modelled."""
    limits = forecast(cluster, LIMITS, past)
    if not len(past):
        return {job: Expected(start, start, start) for job, start in limits.items()}
    short, learnt = forecast(cluster, SHORT, past), forecast(cluster, LEARNT, past)
    return {
        job: Expected(min(low := short.get(job, start), start), learnt.get(job, start), max(low, start))
        for job, start in limits.items()
    }


def why_unknown(cluster: Cluster, job: ClusterJob) -> str:
    """Return as text why a waiting job has no forecast."""
    if cluster.is_private:
        return "the jobs of other users are hidden"
    if not cluster.nodes:
        return "the nodes are not known"
    if not can_be_forecast(job):
        return f"it waits for {job.reason or 'an unknown reason'}, which is not modelled"
    if job not in [other for other in cluster.queue if can_be_forecast(other)][:MOST]:
        return f"more than {MOST} jobs are ahead of it"
    if job.reason not in PLANNED_FOR and job.reason not in ("", "None") and not demands([job], bounds_of(cluster))[0]:
        return f"it waits for {job.reason}, and that limit is not known"
    return "it does not fit the nodes or the limits that are known"
