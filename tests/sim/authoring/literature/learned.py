"""An order found by machine learning (F1, Carastan-Santos & de Camargo 2017), used by EASY: short, narrow and early
jobs first.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

from sim import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.columns import Column
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.workload.model import Job


@dataclass(frozen=True)
class Learned(Order):
    """log10(estimate) times processors plus `early` times log10(submit): what a regression over simulations found."""

    early: float = parameter(870.0, "what it is worth to have come early", low=0.0)
    columns = (Column("score", "what was learned to matter; the smallest goes first"),)

    def key(self, job: Job, now: float) -> float:
        return log10(max(1.0, job.estimate)) * job.procs + self.early * log10(max(1.0, job.submit))


@dataclass(frozen=True)
class LearnedEasy(Ordered):
    """EASY backfilling in the order that was learned."""

    order: Order = order_field(Learned())
    plans = "the heads"

    def decide(self, now: Moment) -> None:
        now.notes["score"] = {job.rank: self.order.key(job, now.time) for job in now.queue}
        Easy(order=self.order).decide(now)
