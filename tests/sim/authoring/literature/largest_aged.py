"""The largest job first; a job's size grows while it waits, so that every job starts in the end."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
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

    def decide(self, now: Moment) -> None:
        priority = {j.rank: j.procs + self.aging * (now.time - j.submit) / 3600 for j in now.queue}
        now.notes["priority"] = priority
        for job in sorted(now.queue, key=lambda job: (-priority[job.rank], job.rank)):
            if job.procs > now.free:
                now.keep(job, TooFewFree(now.free))
                return
            now.start(job, InOrder(now.free))
