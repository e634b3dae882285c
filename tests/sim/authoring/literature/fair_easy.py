"""EASY in the order of fair shares: the user with the least past usage goes first; past usage decays by a half-life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sim import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.workload.model import Job


@dataclass(frozen=True)
class LeastUsed(Order):
    """Jobs of the users with the fewest processor-hours first."""

    halflife: float = parameter(7.0, "days after which half of what a user has had is forgotten", low=0.01)
    columns = (Column("usage", "processor-hours that the user has had", of="user"),)
    usage: Mapping[int, float] = field(default_factory=dict, repr=False, compare=False)

    def seeing(self, now: Moment) -> Order:
        usage, last = now.notes.setdefault("usage", {}), now.notes.setdefault("last", {})
        hours = (now.time - last.get(0, now.time)) / 3600
        for user in usage:
            usage[user] *= 0.5 ** (hours / 24 / self.halflife)
        for job in (*(run.job for run in now.running.values()), *now.completed):
            usage[job.user] = usage.get(job.user, 0.0) + job.procs * hours
        last[0] = now.time
        return replace(self, usage=usage.copy())

    def key(self, job: Job, now: float) -> float:
        return self.usage.get(job.user, 0.0)


@dataclass(frozen=True)
class FairEasy(Ordered):
    """EASY backfilling in the order of fair shares."""

    order: Order = order_field(LeastUsed())
    plans = "the heads"

    def decide(self, now: Moment) -> None:
        Easy(order=self.order).decide(now)
