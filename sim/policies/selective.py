"""Selective suspension, and its tunable form (K chapter 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf

from sim.decisions import Decision, Keep, NoVictims, Outranked, Reason, Wake
from sim.metrics.categories import category_of
from sim.policies.base import policy
from sim.policies.ladder import Ladder, Rung
from sim.policies.parameters import parameter
from sim.policies.preemption import Preemptive, enough
from sim.view import View
from sim.workload.model import Job


@policy("selective", "K sections 3.1 to 3.3", ss="selective")
@dataclass(frozen=True)
class Selective(Preemptive):
    """An idle job may suspend running ones whose expansion factor is smaller by the suspension factor sf.

    xfactor = (wait + estimate) / estimate; wait is all time since submit that the job did not run, so it grows while
    the job is idle. At every instant idle jobs, the largest xfactor first, take what is free; at every tick they may
    preempt. A job does not suspend one more than twice as wide. There are no reservations: the xfactor of a job that
    waits grows until it may preempt.
    """

    sf: float = parameter(2.0, "how many times larger the xfactor must be to suspend (K section 3.1)", low=1.0)
    tick: float = parameter(60.0, "seconds between attempts to preempt (K section 3.2)", low=1.0)

    def decide(self, view: View) -> Iterator[Decision]:
        yield from self.claims_come_true(view)
        yield from self.go_on(view, first=partial(xfactor, view))
        if not self.idle(view):
            return
        if view.now % self.tick:
            yield Wake((view.now // self.tick + 1) * self.tick)
            return
        ladder = self._ladder(view)
        for job in sorted(self.idle(view), key=lambda job: (-xfactor(view, job), job.rank)):
            if self.fits(view, job):
                yield from self.take_room(view, job)
            elif xfactor(view, job) >= self.sf * self._price(view, ladder, job):
                yield from self._preempt(view, ladder, job)
            else:
                if view.curious:
                    yield Keep(job, NoVictims(xfactor(view, job), self.sf))
                continue
            ladder = self._ladder(view)
        yield from self._wake_when_it_may_help(view, ladder)

    def spares(self, view: View, job: Job, its_xfactor: float) -> bool:
        """Must this running job not be suspended, whoever asks?"""
        return False

    def _ladder(self, view: View) -> Ladder:
        rungs, fixed = [], 0
        for rank, stint in view.running.items():
            job, processors = stint.job, view.held(rank)
            # what it was when the stay began: it stands still while the job runs
            factor = (stint.since - job.submit - stint.ran_before + job.estimate) / job.estimate
            if stint.runs and not self.spares(view, job, factor):
                rungs.append(Rung(factor, -rank, job, processors))
            else:
                fixed |= processors
        return Ladder(rungs, self.count_unclaimed(view), fixed)

    def _price(self, view: View, ladder: Ladder, job: Job) -> float:
        """The largest xfactor that the job must outrank by the suspension factor."""
        pinned = view.suspended.get(job.rank)
        return ladder.price(job.procs) if pinned is None else ladder.toll(job.procs, pinned)

    def _preempt(self, view: View, ladder: Ladder, job: Job) -> Iterator[Decision]:
        mine, pinned = xfactor(view, job), view.suspended.get(job.rank)
        if pinned is not None:
            victims = [rung.job for rung in ladder.rungs if rung.processors & pinned]
        else:
            allowed = [r.job for r in ladder.rungs if mine >= self.sf * r.xfactor and job.procs >= r.job.procs / 2]
            victims = enough(job.procs - self.count_unclaimed(view), allowed) or []
        reasons: dict[int, Reason] = {v.rank: Outranked(job, mine, xfactor(view, v), self.sf) for v in victims}
        yield from self.preempt(view, job, victims, reasons)

    def _wake_when_it_may_help(self, view: View, ladder: Ladder) -> Iterator[Decision]:
        """At the tick before the first idle job's xfactor is large enough, if nothing else happens until then."""
        soonest = inf
        for job in self.idle(view):
            wanted = self.sf * self._price(view, ladder, job)
            soonest = min(soonest, job.submit + view.ran(job.rank) + (wanted - 1) * job.estimate)
        if soonest < inf:
            yield Wake(max(view.now // self.tick + 1, soonest // self.tick) * self.tick)


def xfactor(view: View, job: Job) -> float:
    """(wait + estimate) / estimate."""
    return (view.now - job.submit - view.ran(job.rank) + job.estimate) / job.estimate


@policy("tunable", "K section 3.5", tss="tunable")
@dataclass(frozen=True)
class Tunable(Selective):
    """Selective suspension that spares who has suffered enough.

    A job is not suspended while its xfactor exceeds `limit` times the mean slowdown of the finished jobs of its
    category (K table 2.1, by estimate; before any has finished there is no limit).
    """

    limit: float = parameter(1.5, "how many mean slowdowns of its category a job may suffer (K section 3.5.1)", low=0.0)

    def decide(self, view: View) -> Iterator[Decision]:
        count, total = view.notes.setdefault("finished", {}), view.notes.setdefault("slowdown", {})
        for job in view.completed:
            kind = category_of(job.estimate, job.procs)
            count[kind] = count.get(kind, 0) + 1
            total[kind] = total.get(kind, 0) + (view.now - job.submit) / view.ran(job.rank)
        yield from super().decide(view)

    def spares(self, view: View, job: Job, its_xfactor: float) -> bool:
        kind = category_of(job.estimate, job.procs)
        count = view.notes["finished"].get(kind, 0)
        return count > 0 and its_xfactor > self.limit * view.notes["slowdown"][kind] / count
