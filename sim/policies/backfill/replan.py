"""Backfilling without guarantees: a new plan at every instant (Zotkin et al., section 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons import NewPlan, Planned
from sim.policies.policy import Ordered
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("replan", "ZKP section 8, tables 10 and 11")
@dataclass(frozen=True)
class Replan(Ordered):
    """Plan every job as early as possible in queue order; jobs planned for now start.

    Nothing is promised: at the next instant a job that stands earlier in the queue may take the place.
    """

    def decide(self, now: Moment) -> None:
        plan = now.draft()
        for job in now.queued():
            at = plan.put(job, now.time)
            if at == now.time:
                now.start(job, Planned(), plan.seats_of(job))
            else:
                now.reserve(job, at, NewPlan())
