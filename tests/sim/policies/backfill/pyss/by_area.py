"""Lookahead as in pyss: the set of jobs with the largest sum of processors times estimates, later jobs on ties."""

from dataclasses import dataclass

from sim.decisions.reasons import Fits, WhenFree
from sim.engine.moment import Moment
from sim.machine.moment import is_by
from sim.policies.policy import Policy
from sim.workload.model import Job


@dataclass(frozen=True)
class ByArea(Policy):
    def decide(self, now: Moment) -> None:
        head = now.start_in_order()
        if head is None:
            return
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))
        best: list[tuple[float, int, tuple[Job, ...]]] = [(0.0, 0, ())] * (now.free + 1)
        for job in now.behind(head):
            was, late = best.copy(), 0 if is_by(now.time + job.estimate, shadow) else job.procs
            for room in range(job.procs, len(best)):
                score, used, chosen = was[room - job.procs]
                score += job.procs * job.estimate
                if (not late or used + late <= extra) and was[room][0] <= score:
                    best[room] = score, used + late, (*chosen, job)
        for job in best[-1][2]:
            now.start(job, Fits(now.free))
