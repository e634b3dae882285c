"""Priorities of waiting jobs that name several partitions.

Slurm tries such a job once for each of them, with the points of that partition. Its list of jobs shows only one of the
priorities, usually that of the partition tried last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sim.live.cluster.values import Cluster, ClusterJob, Parts
from sim.policies.multifactor import Multifactor
from sim.policies.orders import Order
from sim.policies.registry import policy_of
from sim.policies.slurm_config import spec_of
from sim.support.errors import SchedscopeError
from sim.workload.model import Job

NAME = "partition"
"""Name of the part of a priority that the partition contributes."""


def multifactor_of(settings: str) -> Multifactor | None:
    """Return the scheduler's priority; None if its settings are unknown or its priority is another one."""
    try:
        order = policy_of(spec_of(settings)[0]).queue_order() if settings else None
    except SchedscopeError:
        return None
    return order if isinstance(order, Multifactor) else None


def points_of(cluster: Cluster) -> dict[str, float]:
    """Return the points of each partition: from the settings, else from the parts of priorities."""
    order = multifactor_of(cluster.settings)
    if order is not None and cluster.partitions:
        most = max(partition.factor for partition in cluster.partitions) or 1
        return {partition.name: order.partition * partition.factor / most for partition in cluster.partitions}
    alone = (job for job in cluster.queue if "," not in job.partition and job.number in cluster.parts)
    return {job.partition: cluster.parts[job.number].get(NAME, 0.0) for job in alone}


def priorities(job: ClusterJob, parts: Parts | None, points: Mapping[str, float]) -> dict[str, float]:
    """Return a mapping from each partition that the waiting job names to its priority there; empty if it names one
    only, or if the points of a partition are unknown. `parts` are the parts of its priority, if they are known.

    >>> from sim.live.cluster.values import ClusterJob
    >>> job = ClusterJob("1", "1", "PENDING", partition="short,batch", priority=950)
    >>> points = {"short": 1000, "batch": 100}
    >>> priorities(job, None, points), priorities(job, {"age": 20}, points), priorities(job, {"qos": 20}, {"short": 1})
    ({'short': 1850, 'batch': 950}, {'short': 950, 'batch': 50}, {})
    """
    names = job.partition.split(",")
    if len(names) < 2 or not job.priority or not points.keys() >= {*names}:
        return {}
    known = {name: points[name] for name in names}
    others = {name: -part if name == "nice" else part for name, part in (parts or {}).items() if name != NAME}
    shown = min(known.values()) if parts is None else job.priority - sum(others.values())
    base = job.priority - min(known.values(), key=lambda each: abs(each - shown))
    return {name: base + each for name, each in known.items()}


@dataclass(frozen=True)
class ByPriority(Order):
    """The greatest priority first. A job with several partitions has its priority in the best of them."""

    own: Sequence[float] = field(default=(), repr=False, compare=False)
    """For each job, by rank: its priority."""
    best: Sequence[float] = field(default=(), repr=False, compare=False)
    """For each job, by rank: the factor (0 to 1) of its best partition; empty if that is the same for all."""
    weight: float = 0.0
    """Points of a partition with the factor 1."""

    def key(self, job: Job, now: float) -> float:
        return -self.own[job.rank]

    def in_partition(self, job: Job, factor: float) -> float:
        return self.weight * (self.best[job.rank] - factor) if self.best else 0.0
