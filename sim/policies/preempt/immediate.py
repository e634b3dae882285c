"""Immediate service: a new job suspends jobs that have had their slice of time (Chiang & Vernon; K section 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from sim.decisions.reasons import MadeWay
from sim.decisions.reasons_to_wait import NoSliceOver
from sim.machine.moment import is_by, ratio, whole
from sim.policies.parameters import parameter
from sim.policies.preempt.preemption import Preemptive
from sim.policies.ranking import Ranking
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment
    from sim.engine.stay import Stay


@policy("immediate", "K section 2.3, figures 3.1 to 3.4", **{"is": "immediate"})
@dataclass(frozen=True)
class Immediate(Preemptive):
    """A new job may suspend jobs that have used up their slice, lowest instantaneous xfactor first; otherwise it waits.

    The instantaneous xfactor is the time since submit over the time run (K: (wait + run) / run), infinite before the
    first run. Idle jobs, the largest instantaneous xfactor first, start or resume when they fit. A new job without
    enough jobs to suspend tries again at every instant and whenever a running job completes its slice. A job has one
    slice in all: after it has run for that long, it may be suspended at any time, even just after it has resumed.
    """

    slice: float = parameter(
        600.0, "seconds that a job runs in all before it may be suspended (K section 2.3)", low=1.0
    )

    def decide(self, now: Moment) -> None:
        self.claims_come_true(now)
        idle = now.new_ranking()
        for job in self.roomy(now):
            idle.add(job, self._xfactor(now, job))
        for job in idle.down():
            if self.fits(now, job):
                self.take_room(now, job)
        self.keep_suspended(now)
        newcomers, some_wait = self.newcomers(now), False
        if len(newcomers) == 0:
            return
        served = self._served(now)
        for job in newcomers:
            if self.fits(now, job):
                self.take_room(now, job)
                continue
            victims = self.victims_among(now, job, served.up())
            if len(victims) == 0:
                some_wait = True
                now.keep(job, NoSliceOver(self.slice) if now.in_time(job) else self.obstacle(now, job))
                continue
            for victim in victims:
                xfactor = self._xfactor(now, victim)
                because = MadeWay(job, xfactor, self.slice, served.place(victim))
                now.suspend(victim, because, self.overhead(victim))
            for victim in victims:
                served.remove(victim)
            self.take_over(now, job, victims)
        if some_wait:
            self._wake_for_next(now)

    def _served(self, now: Moment) -> Ranking:
        served = now.new_ranking()
        for run in self.runs(now):
            if is_by(self._slice_over(now, run), now.time):
                served.add(run.job, self._xfactor(now, run.job))
        return served

    def _wake_for_next(self, now: Moment) -> None:
        soonest = inf
        during: Job | None = None
        for run in self.runs(now):
            over = self._slice_over(now, run)
            if not is_by(over, now.time) and over < soonest:
                soonest, during = over, run.job
        if during is not None:
            now.wake(soonest, during)

    def _slice_over(self, now: Moment, run: Stay) -> float:
        return run.since + self.slice - run.ran_before

    def _xfactor(self, now: Moment, job: Job) -> float:
        """Return the job's instantaneous xfactor: time since submit over time run; infinite before it has run."""
        ran = whole(now.ran(job.rank))
        return ratio(now.time - job.submit, ran) if ran else inf
