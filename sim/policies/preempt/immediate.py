"""Immediate service: every job gets a slice of time as soon as it arrives (Chiang & Vernon; K section 2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf

from sim.decisions.decisions import Decision, Keep, Wake
from sim.decisions.reasons import MadeWay
from sim.decisions.reasons_to_wait import NoSliceOver
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, whole
from sim.policies.parameters import parameter
from sim.policies.preempt.preemption import Preemptive, enough
from sim.policies.registry import policy
from sim.policies.view import RunningJob, View
from sim.workload.model import Job


@policy("immediate", "K section 2.3, figures 3.1 to 3.4", **{"is": "immediate"})
@dataclass(frozen=True)
class Immediate(Preemptive):
    """Each new job starts at once by suspending jobs that have used up their slice, lowest instantaneous xfactor first.

    The instantaneous xfactor is the time since submit over the time run, infinite before the first run. Idle jobs, the
    largest first, start or resume when they fit. A new job without enough jobs to suspend waits and tries again at
    every instant and whenever a running job completes its first slice.
    """

    slice: float = parameter(600.0, "seconds that a job may run before it can be suspended (K section 2.3)", low=1.0)

    def decide(self, view: View) -> Iterator[Decision]:
        yield from self.claims_come_true(view)
        yield from self.go_on(view, partial(suffering, view))
        yield from self.keep_idle(view, lambda job: job.rank in view.suspended)
        queue = view.queue
        served = self._served(view) if queue else []
        disappointed = False
        for job in queue:
            if job.rank in view.notes["claim"]:
                continue
            if self.fits(view, job):
                yield self.take_room(view, job)
                continue
            victims = enough(job.procs - self.count_unclaimed(view), served) if view.in_time(job) else None
            if victims is None:
                disappointed = True
                if view.curious:
                    yield Keep(job, NoSliceOver(self.slice) if view.in_time(job) else self._obstacle(view, job))
                continue
            reasons: dict[int, Reason] = {
                v.rank: MadeWay(job, suffering(view, v), self.slice, served.index(v) + 1) for v in victims
            }
            yield from self.preempt(view, job, victims, reasons)
            served = [other for other in served if other not in victims]
        if disappointed and (run := self._next_served(view)):
            yield Wake(self._slice_over(run), run.job)

    def _served(self, view: View) -> list[Job]:
        """Return the running jobs that have used up their slice of time, the lowest instantaneous xfactor first."""
        served = [s.job for s in view.running.values() if s.runs and self._slice_over(s) <= view.now + MOMENT]
        served.sort(key=lambda job: (suffering(view, job), -job.rank))
        return served

    def _next_served(self, view: View) -> RunningJob | None:
        """Return the running job that will be the next to use up its slice, or None."""
        unserved = (run for run in view.running.values() if run.runs and self._slice_over(run) > view.now + MOMENT)
        return min(unserved, key=self._slice_over, default=None)

    def _slice_over(self, run: RunningJob) -> float:
        """Return the time at which the running job has used up its slice."""
        return run.since + self.slice - run.ran_before


def suffering(view: View, job: Job) -> float:
    """Return the job's instantaneous xfactor: time since submit over time run; infinite before it has run."""
    ran = whole(view.ran(job.rank))
    return whole(view.now - job.submit) / ran if ran else inf
