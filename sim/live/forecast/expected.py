"""Expected starts of waiting jobs as (earliest, middle, latest), and reasons why a job has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from sim.live.cluster.constraints import gone
from sim.live.cluster.queue_order import tier_of
from sim.live.cluster.values import NEVER, Cluster, ClusterJob
from sim.live.forecast.forecast import BETWEEN, LIMITS, MOST_WAITING, Foresight, Model, can_be_forecast
from sim.live.forecast.limits import bounds_of, is_known
from sim.live.forecast.past import PastJobs
from sim.live.forecast.ranges import SHARE
from sim.support.formatting import listed

SHORT = Model("short jobs", quantile=(1 - SHARE) / 2)
"""Model in which each job runs only as long as the shortest tenth of comparable past jobs did."""


class Expected(NamedTuple):
    """Expected start of a job under three assumptions about run times, in seconds since 1970."""

    low: float
    """Start if each job runs only as long as the shortest tenth of comparable past jobs; the earliest of the three."""
    middle: float
    """Start between the one if each job runs as long as the median of comparable past jobs did, and `high`."""
    high: float
    """Start if each job runs to its time limit; the latest of the three."""


def trimmed(cluster: Cluster, most: int = MOST_WAITING) -> Cluster:
    """Return the cluster with fewer waiting jobs: only jobs that can be forecast, and at most the first `most` in
    Slurm's order.
    """
    queue = [each for each in cluster.queue if can_be_forecast(each)]
    queue.sort(key=lambda each: -tier_of(cluster, each))
    kept = {each.id for each in queue[:most]}
    return replace(cluster, jobs=tuple(each for each in cluster.jobs if not each.is_waiting or each.id in kept))


def expected(cluster: Cluster, past: PastJobs) -> Mapping[str, Expected]:
    """Return the expected starts of the waiting jobs by id, where the model covers the reason to wait."""
    return expected_in(Foresight(cluster, past))


def expected_in(ahead: Foresight) -> Mapping[str, Expected]:
    """Return the expected starts of waiting jobs by id, of jobs only whose reason to wait is modelled."""
    limits = ahead.starts(LIMITS)
    if not len(ahead.past):
        return {job: Expected(start, start, start) for job, start in limits.items()}
    others = [ahead.starts(model) for model in (SHORT, BETWEEN)]
    found = {job: (*(known.get(job, start) for known in others), start) for job, start in limits.items()}
    return {job: Expected(min(three), three[1], max(three)) for job, three in found.items()}


def why_unknown(cluster: Cluster, job: ClusterJob) -> str:
    """Return text that explains why a waiting job has no forecast."""
    if cluster.is_private:
        return "the jobs of other users are hidden"
    if not cluster.nodes:
        return "the nodes are not known"
    if job.reason.partition(",")[0] in NEVER:
        return "as it is, it can never start"
    if named := gone(cluster, job):
        return f"it asks for {listed(node.name for node in named)}, where no job can start now"
    if not can_be_forecast(job):
        return f"it waits for {job.reason or 'an unknown reason'}, which is not modelled"
    if job not in [other for other in cluster.queue if can_be_forecast(other)][:MOST_WAITING]:
        return f"more than {MOST_WAITING:,} jobs are ahead of it"
    if not is_known(job, bounds_of(cluster)):
        return f"it waits for {job.reason}, and that limit is not known"
    return "it, or a running job, does not fit the nodes or the limits that are known"
