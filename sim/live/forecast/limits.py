"""Limits of accounts, users, QOS and licenses, as forecasts apply them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sim.live.cluster.constraints import licenses_of
from sim.live.cluster.values import Cluster, ClusterJob, Limit

_WHAT = re.compile(r"(?:Grp|Max)(?:Jobs(?:PU|PA)?|TRES(?:PU|PA)?=(cpu|gres/gpu))|license")
LICENSES = "Licenses"
"""Slurm's reason to wait of a job for which too few licenses are free."""


@dataclass(frozen=True)
class ForecastBound:
    """Limit on an amount (such as cores) that certain jobs may take in total at one time."""

    limit: Limit

    def covers(self, job: ClusterJob) -> bool:
        """Return True if this limit restricts the job's account, user or QOS, or is on a license that it requests."""
        if self.limit.kind == "license":
            return self.limit.name in licenses_of(job)
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
        if self.limit.kind == "license":
            return licenses_of(job).get(self.limit.name, 0)
        _, _, resource = self.limit.what.partition("=")
        return {"cpu": job.cpus, "gres/gpu": job.gpus * max(len(job.nodes), job.nodes_wanted)}.get(resource, 1)


def bounds_of(cluster: Cluster) -> tuple[ForecastBound, ...]:
    return tuple(ForecastBound(limit) for limit in cluster.limits if _WHAT.fullmatch(limit.what))


def demands(jobs: Iterable[ClusterJob], bounds: Iterable[ForecastBound]) -> Mapping[int, tuple[tuple[int, int], ...]]:
    """Return each job's index -> (index in `bounds`, amount) of each limit that it counts against."""
    listed = tuple(enumerate(bounds))
    return {
        place: tuple((at, bound.amount(job)) for at, bound in listed if bound.covers(job))
        for place, job in enumerate(jobs)
    }


def is_limited(job: ClusterJob) -> bool:
    return job.reason == LICENSES or (job.reason.startswith(("Assoc", "QOS")) and "Limit" in job.reason)


def is_known(job: ClusterJob, bounds: Iterable[ForecastBound]) -> bool:
    """Return True if the job waits for no limit, or if one of `bounds` may be the limit that it waits for."""
    is_license = job.reason == LICENSES
    kinds = (bound.limit.kind == "license" for bound in bounds if bound.covers(job))
    return not is_limited(job) or any(kind == is_license for kind in kinds)
