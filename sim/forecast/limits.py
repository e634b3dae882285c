"""Limits on what an account, user or QOS (Slurm's quality of service) may run at one time, as forecasts apply them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sim.cluster.values import Cluster, ClusterJob, Limit

_WHAT = re.compile(r"(?:Grp|Max)(?:Jobs(?:PU|PA)?|TRES(?:PU|PA)?=(cpu|gres/gpu))")
_OF_JOBS = {"": 1, "cpu": 0, "gres/gpu": 0}


@dataclass(frozen=True)
class Bound:
    """Limit on an amount (such as cores) that certain jobs may take in total at one time."""

    limit: Limit

    def covers(self, job: ClusterJob) -> bool:
        """Return True if the job belongs to the account, user or QOS whose jobs this limit restricts."""
        names = {
            "account": job.account,
            "user": f"{job.user} of {job.account}",
            "qos": job.qos,
            "qos of a user": f"{job.user} in {job.qos}",
            "qos of an account": f"{job.account} in {job.qos}",
        }
        return names.get(self.limit.kind) == self.limit.name

    def amount(self, job: ClusterJob) -> int:
        """Return the amount of this limit that the job takes while it runs."""
        _, _, resource = self.limit.what.partition("=")
        return {"cpu": job.cpus, "gres/gpu": job.gpus * max(len(job.nodes), job.nodes_wanted)}.get(resource, 1)


def bounds_of(cluster: Cluster) -> tuple[Bound, ...]:
    """Return those limits of the cluster that a forecast can take into account."""
    return tuple(Bound(limit) for limit in cluster.limits if _WHAT.fullmatch(limit.what))


def demands(jobs: Iterable[ClusterJob], bounds: Iterable[Bound]) -> Mapping[int, tuple[tuple[int, int], ...]]:
    """Return a mapping from the index of each job to the limits that it counts against, as (index of the limit in
    `bounds`, amount).
    """
    listed = tuple(enumerate(bounds))
    return {
        place: tuple((at, bound.amount(job)) for at, bound in listed if bound.covers(job))
        for place, job in enumerate(jobs)
    }
