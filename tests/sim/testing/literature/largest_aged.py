"""The largest job first; a job's size grows while it waits, so that every job starts in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.core.moment import Moment
from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import InOrder
from sim.decisions.reasons_to_wait import TooFewFree
from sim.policies.columns import Column
from sim.policies.parameters import parameter


@dataclass(frozen=True)
class LargestAged(Policy):
    """Jobs by processors, plus some for each hour of waiting; the first that does not fit stops the others."""

    aging: float = parameter(1.0, "how many processors an hour of waiting is worth", low=0.0)
    columns = (Column("priority", "processors, and what waiting adds to them"),)
    lets_pass = False

    def decide(self, view: Moment) -> Iterator[Decision]:
        priority = {j.rank: j.procs + self.aging * (view.now - j.submit) / 3600 for j in view.queue}
        view.notes["priority"] = priority
        for job in sorted(view.queue, key=lambda job: (-priority[job.rank], job.rank)):
            if job.procs > view.free:
                if view.curious:
                    yield Keep(job, TooFewFree(view.free))
                return
            yield Start(job, InOrder(view.free))
