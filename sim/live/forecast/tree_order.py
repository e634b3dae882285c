"""Order of a forecast by Slurm's Fair Tree, from the tree of accounts that the scheduler tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sim.live.cluster.values import Cluster, ClusterJob, Share
from sim.live.forecast.in_partitions import multifactor_of
from sim.policies.multifactor import Multifactor
from sim.policies.orders import Order
from sim.workload.model import Job
from sim.workload.shape import ShareEntry
from sim.workload.share_tree import ShareTree

if TYPE_CHECKING:
    from sim.engine.moment import Moment

NAME = "fairshare"
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
        own.append(job.priority - parts.get(NAME, weighed.fairshare * factors.get(leaf, 0.0)))
    known = {name: getattr(weighed, name) for name in ("fairshare", "halflife", "period")}
    return ByTree(shares="tree", own=own, tree=tree, factors=best, partition=weight, **known)


def entry_of(share: Share) -> ShareEntry:
    """Return an entry of the scheduler's tree of accounts in the form of traces."""
    return ShareEntry(share.account, share.user, "" if share.user else share.parent, share.shares, share.usage)


def _weighed(settings: str) -> Multifactor | None:
    """Return the scheduler's priority; None if its settings are unknown or its fair share is not Fair Tree."""
    order = multifactor_of(settings)
    return order if order is not None and order.shares == "tree" and order.fairshare else None
