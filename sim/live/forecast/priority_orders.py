"""Orders of a forecast: by the priorities in each of a job's partitions, and by Slurm's Fair Tree.

Slurm tries a job that names several partitions once for each of them, with the points of that partition. Its list of
jobs shows only one of the priorities, usually that of the partition tried last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sim.live.cluster.values import Cluster, ClusterJob, Parts, Share
from sim.policies.multifactor import Multifactor
from sim.policies.orders import Order
from sim.policies.registry import policy_of
from sim.policies.slurm_config import spec_of
from sim.support.errors import SchedscopeError
from sim.workload.model import Job
from sim.workload.shape import ShareEntry
from sim.workload.share_tree import ShareTree

if TYPE_CHECKING:
    from sim.engine.moment import Moment

PARTITION = "partition"
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
    return {job.partition: cluster.parts[job.number].get(PARTITION, 0.0) for job in alone}


def priorities(job: ClusterJob, parts: Parts | None, points: Mapping[str, float]) -> dict[str, float]:
    """Return a mapping from each partition that the waiting job names to its priority there. It is empty if the job
    names one only, or if points of a partition are unknown. `parts` are the parts of its priority, if they are known.

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
    others = {name: -part if name == "nice" else part for name, part in (parts or {}).items() if name != PARTITION}
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


FAIRSHARE = "fairshare"
"""Name of the part of a priority that fair share contributes."""


@dataclass(frozen=True)
class ByTree(Multifactor):
    """The greatest priority first, while the ranks of users in the tree of accounts change with their usage."""

    own: Sequence[float] = field(default=(), repr=False, compare=False)
    """For each job, by rank: its priority without the points of its user's rank."""
    tree: ShareTree | None = field(default=None, repr=False, compare=False)

    def seeing(self, view: Moment) -> Order:
        """Return the order with the ranks that users have by their usage up to now."""
        assert self.tree is not None
        return replace(self, ranks=self._ranks(view, self.tree), leaf=self.tree.leaf)

    def key(self, job: Job, now: float) -> float:
        return -(self.own[job.rank] + self.fairshare * self.ranks.get(self.leaf[job.rank], 0.0))


def tree_order(
    cluster: Cluster, jobs: Sequence[ClusterJob], best: Sequence[float] = (), weight: float = 0.0
) -> ByTree | None:
    """Return the order of these jobs for a simulation that begins at the picture (polled state) `cluster`, in which
    their indices are their ranks. None if the scheduler does not tell the tree of accounts, or does not use Fair Tree.
    `best` and `weight` are those of `ByPriority`.
    """
    weighed = _weighed(cluster.settings) if cluster.shares else None
    if weighed is None:
        return None
    tree = ShareTree(map(entry_of, cluster.shares), ((job.account, job.user) for job in jobs))
    factors = tree.factors(tree.unowned())
    own = []
    for job, leaf in zip(jobs, tree.leaf, strict=True):
        parts = cluster.parts.get(job.number, {})
        own.append(job.priority - parts.get(FAIRSHARE, weighed.fairshare * factors.get(leaf, 0.0)))
    known = {name: getattr(weighed, name) for name in ("fairshare", "halflife", "period")}
    return ByTree(shares="tree", own=own, tree=tree, factors=best, partition=weight, **known)


def entry_of(share: Share) -> ShareEntry:
    """Return an entry of the scheduler's tree of accounts in the form of traces."""
    return ShareEntry(share.account, share.user, "" if share.user else share.parent, share.shares, share.usage)


def _weighed(settings: str) -> Multifactor | None:
    """Return the scheduler's priority; None if its settings are unknown or its fair share is not Fair Tree."""
    order = multifactor_of(settings)
    return order if order is not None and order.shares == "tree" and order.fairshare else None
