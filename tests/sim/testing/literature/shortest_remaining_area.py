"""The smallest remaining area first, with suspension: jobs with much less work left replace others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.core.moment import Moment
from sim.decisions.decisions import Decision, Resume, Start, Suspend
from sim.decisions.reasons import Fits, OwnFree
from sim.decisions.sentences import Span
from sim.formatting import Clock, span
from sim.policies.parameters import parameter
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

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in sorted(view.queue, key=lambda job: (job.procs * job.estimate, job.rank)):
            larger = [run.job for run in view.running.values() if run.runs and self._is_larger(view, run.job, job)]
            for victim in sorted(larger, key=lambda other: -other.rank):
                if job.procs <= view.free or job.procs > view.free + sum(other.procs for other in larger):
                    break
                larger.remove(victim)
                yield Suspend(victim, MakesWay(view.remaining_estimate(victim.rank), job))
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
        for rank, own in list(view.suspended.items()):
            if not own & ~view.free_set:
                yield Resume(view.job(rank), OwnFree())

    def _is_larger(self, view: Moment, running: Job, job: Job) -> bool:
        left = running.procs * view.remaining_estimate(running.rank)
        return left > self.factor * job.procs * job.estimate
