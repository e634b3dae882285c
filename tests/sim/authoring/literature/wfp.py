"""Utility as on Intrepid (WFP3; Tang, Lan, Desai & Buettner 2009): wide jobs and jobs that have waited long go
first.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import EndsBefore, InOrder, WhenFree
from sim.decisions.reasons_to_wait import TooFewFree
from sim.policies.columns import Column
from sim.policies.parameters import parameter


@dataclass(frozen=True)
class Wfp(Policy):
    """The highest (wait / estimate) ** power * processors first; others may pass without delaying it."""

    power: float = parameter(3.0, "how much a long wait weighs against a wide job", low=0.0)
    columns = (Column("utility", "(wait / estimate) ** power times processors"),)
    plans = "the heads"

    def decide(self, now: Moment) -> None:
        utility = {j.rank: ((now.time - j.submit) / j.estimate) ** self.power * j.procs for j in now.queue}
        now.notes["utility"] = utility
        queue = sorted(now.queue, key=lambda job: (-utility[job.rank], job.rank))
        while queue and queue[0].procs <= now.free:
            now.start(queue.pop(0), InOrder(now.free))
        if not queue:
            return
        head = queue.pop(0)
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, head.procs + extra))
        for job in queue:
            if job.procs <= now.free and now.time + job.estimate <= shadow:
                now.backfill(job, EndsBefore(head, shadow, now.time + job.estimate))
            elif job.procs > now.free:
                now.keep(job, TooFewFree(now.free))
