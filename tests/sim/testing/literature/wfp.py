"""Utility as on Intrepid (WFP3; Tang, Lan, Desai & Buettner 2009): wide jobs and jobs that have waited long go
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.core.moment import Moment
from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start
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

    def decide(self, view: Moment) -> Iterator[Decision]:
        utility = {j.rank: ((view.now - j.submit) / j.estimate) ** self.power * j.procs for j in view.queue}
        view.notes["utility"] = utility
        queue = sorted(view.queue, key=lambda job: (-utility[job.rank], job.rank))
        while queue and queue[0].procs <= view.free:
            yield Start(queue.pop(0), InOrder(view.free))
        if not queue:
            return
        head = queue.pop(0)
        shadow, extra = view.shadow(head)
        yield Reserve(head, shadow, WhenFree(view.free, head.procs + extra))
        for job in queue:
            if job.procs <= view.free and view.now + job.estimate <= shadow:
                yield Backfill(job, EndsBefore(head, shadow, view.now + job.estimate))
            elif view.curious and job.procs > view.free:
                yield Keep(job, TooFewFree(view.free))
