"""Backfilling without guarantees: a new plan at every instant (ZKP section 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Backfill, Decision, Reserve, Start
from sim.decisions.reasons import NewPlan, Planned
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View


@policy("replan", "ZKP section 8, tables 10 and 11")
@dataclass(frozen=True)
class Replan(Ordered):
    """Plan every job as early as possible in queue order; jobs planned for now start.

    Nothing is promised: at the next instant a job that stands earlier in the queue may take the place.
    """

    def decide(self, view: View) -> Iterator[Decision]:
        now, plan = view.now, view.plan.copy()
        start: type[Start | Backfill] = Start
        for job in view.queue:
            at = plan.put(job, now)
            if at == now:
                yield start(job, Planned(), plan.seats_of(job))
            else:
                start = Backfill
                yield Reserve(job, at, NewPlan())
