"""The smallest remaining area first, with suspension: jobs with much less work left replace others."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import Fits, OwnFree
from sim.decisions.sentences import Span
from sim.policies.parameters import parameter
from sim.support.formatting import Clock, span
from sim.workload.model import Job


@dataclass(frozen=True)
class MakesWay:
    seconds: Span
    smaller: Job

    def sentence(self, job: Job, at: Clock) -> str:
        return f"it has {span(self.seconds)} left to do, much more than J{self.smaller.id} for which it makes way"


@dataclass(frozen=True)
class ShortestRemainingArea(Policy):
    """A waiting job takes the processors of one whose remaining area is `factor` times its own."""

    factor: float = parameter(4.0, "how many times as much a job must have left to make way", low=1.0)
    suspends = True
    plans = "nobody"

    def decide(self, now: Moment) -> None:
        for job in sorted(now.queue, key=lambda job: (job.procs * job.estimate, job.rank)):
            larger = [run.job for run in now.running.values() if run.runs and self._is_larger(now, run.job, job)]
            for victim in sorted(larger, key=lambda other: -other.rank):
                if job.procs <= now.free or job.procs > now.free + sum(other.procs for other in larger):
                    break
                larger.remove(victim)
                now.suspend(victim, MakesWay(now.remaining_estimate(victim.rank), job))
            if job.procs <= now.free:
                now.start(job, Fits(now.free))
        for rank, own in list(now.suspended.items()):
            if not own & ~now.free_set:
                now.resume(now.job(rank), OwnFree())

    def _is_larger(self, now: Moment, running: Job, job: Job) -> bool:
        left = running.procs * now.remaining_estimate(running.rank)
        return left > self.factor * job.procs * job.estimate
