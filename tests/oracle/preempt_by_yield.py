"""The policies that suspend jobs as generators: frozen copies of the definitions of before, independent of `Pass`.

They are not registered; `OLD` has them by the name of the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from math import ceil, inf
from operator import or_

from sim.decisions.decisions import Decision, Keep, Resume, Start, Suspend, Wake
from sim.decisions.reasons import Claimed, Fits, MadeWay, Outranked, OwnFree, Preempts
from sim.decisions.reasons_to_wait import AwaitsVictims, ClaimTaken, NoSliceOver
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, is_by, ratio, whole
from sim.policies.policy import Policy
from sim.policies.preempt.immediate import Immediate
from sim.policies.preempt.preemption import Preemptive, enough, first_of
from sim.policies.preempt.selective import Selective, Tunable
from sim.policies.preempt.xfactors import expansion, payable_from, reaches
from sim.policies.view import RunningJob, View
from sim.workload.categories import TAU, category_of
from sim.workload.model import Job


class OldPreemptive(Preemptive):
    """Starts, suspensions and resumptions as decisions."""

    def go_on(self, view: View, first: Callable[[Job], float]) -> Iterator[Decision]:
        """Yield starts and resumptions of the idle jobs that fit: those with the largest value of `first` first, then
        by rank.
        """
        takers = self.roomy(view)
        if len(takers) > 1:
            takers.sort(key=lambda job: (-first(job), job.rank))
        for job in takers:
            if self.fits(view, job):
                yield self.room_taken(view, job)

    def kept_idle(self, view: View, of: Callable[[Job], bool] = lambda job: True) -> Iterator[Keep]:
        """Yield, for each idle job for which `of` returns True, the reason why it waits; yield nothing if reasons are
        not recorded.
        """
        if view.curious:
            for job in filter(of, self.idle(view)):
                yield Keep(job, self.obstacle(view, job))

    def preempt(self, view: View, job: Job, victims: list[Job], reasons: dict[int, Reason]) -> Iterator[Decision]:
        """Yield the decisions that suspend the victims for `job`.

        The job claims free processors first and then the victims', lowest numbers first; a job that must resume on its
        own
        processors claims these.
        """
        chosen = self.pinned(view, job.rank)
        if chosen is None:
            theirs = reduce(or_, (view.held(victim.rank) for victim in victims))
            chosen = first_of(job.procs, self.unclaimed(view), theirs & view.suspended.get(job.rank, 0), theirs)
        for victim in victims:
            yield Suspend(victim, reasons[victim.rank], self.overhead(victim))
        if chosen & ~view.free_set:
            view.notes.setdefault("claim", {})[job.rank] = chosen
            view.notes.setdefault("victims", {})[job.rank] = tuple(victim.rank for victim in victims)
            yield from self._awaits(view, job, chosen)
        else:
            yield self._begun(view, job, Preempts(tuple(victims)), chosen)

    def claims_due(self, view: View) -> Iterator[Decision]:
        """Yield the starts and resumptions of jobs with a claim whose claimed processors are free now."""
        claims = view.notes.setdefault("claim", {})
        for rank, processors in list(claims.items()):
            chosen, job = int(processors), view.job(rank)
            if rank in view.running or not self._can_claim(view, job, chosen):
                self._give_up(view, rank)
                continue
            if chosen & ~view.free_set:
                yield from self._awaits(view, job, chosen)
                continue
            self._give_up(view, rank)
            yield self._begun(view, job, Claimed(), chosen)

    def _awaits(self, view: View, job: Job, claimed: int) -> Iterator[Keep]:
        """Yield the reason why a job with a claim waits: a victim is still leaving its processors, or another job has
        started there.
        """
        if view.curious:
            there = [stint.job for rank, stint in view.running.items() if view.held(rank) & claimed]
            victims = view.notes["victims"][job.rank]
            leaving = tuple(each for each in there if each.rank in victims and each.rank in view.suspended)
            yield Keep(job, AwaitsVictims(leaving) if leaving else ClaimTaken(tuple(there)))

    def _begun(self, view: View, job: Job, why: Reason, on: int) -> Start | Resume:
        """Return the decision that starts or resumes the job on the processors `on`, with the reason `why`."""
        own = view.suspended.get(job.rank)
        if own is None:
            return Start(job, why, on)
        return Resume(job, why, self.overhead(job), None if on == own else on)

    def room_taken(self, view: View, job: Job) -> Start | Resume:
        """Return the decision that starts or resumes the job on free processors; the job must fit."""
        pinned = self.pinned(view, job.rank)
        if pinned is not None:
            return Resume(job, OwnFree(), self.overhead(job))
        return self._begun(view, job, Fits(view.free), self._seat(view, job))


@dataclass(frozen=True)
class OldImmediate(Immediate, OldPreemptive):
    def decide(self, view: View) -> Iterator[Decision]:
        yield from self.claims_due(view)
        yield from self.go_on(view, partial(suffering, view))
        yield from self.kept_idle(view, lambda job: job.rank in view.suspended)
        queue = view.queue
        served = self._all_served(view) if queue else []
        disappointed = False
        for job in queue:
            if job.rank in view.notes["claim"]:
                continue
            if self.fits(view, job):
                yield self.room_taken(view, job)
                continue
            victims = enough(job.procs - self.count_unclaimed(view), served) if view.in_time(job) else None
            if victims is None:
                disappointed = True
                if view.curious:
                    yield Keep(job, NoSliceOver(self.slice) if view.in_time(job) else self.obstacle(view, job))
                continue
            reasons: dict[int, Reason] = {
                v.rank: MadeWay(job, suffering(view, v), self.slice, served.index(v) + 1) for v in victims
            }
            yield from self.preempt(view, job, victims, reasons)
            served = [other for other in served if other not in victims]
        if disappointed and (run := self._next_served(view)):
            yield Wake(self._over(run), run.job)

    def _all_served(self, view: View) -> list[Job]:
        """Return the running jobs that have used up their slice of time, the lowest instantaneous xfactor first."""
        served = [s.job for s in view.running.values() if s.runs and is_by(self._over(s), view.now)]
        served.sort(key=lambda job: (suffering(view, job), -job.rank))
        return served

    def _next_served(self, view: View) -> RunningJob | None:
        """Return the running job that will be the next to use up its slice, or None."""
        unserved = (run for run in view.running.values() if run.runs and not is_by(self._over(run), view.now))
        return min(unserved, key=self._over, default=None)

    def _over(self, run: RunningJob) -> float:
        """Return the time at which the running job has used up its slice."""
        return run.since + self.slice - run.ran_before


def suffering(view: View, job: Job) -> float:
    """Return the job's instantaneous xfactor: time since submit over time run; infinite before it has run."""
    ran = whole(view.ran(job.rank))
    return ratio(view.now - job.submit, ran) if ran else inf


def xfactor(view: View, job: Job) -> float:
    """Return the job's expansion factor now: (wait + estimate) / estimate."""
    return expansion(view.now - job.submit - view.ran(job.rank), job.estimate)


@dataclass(frozen=True)
class OldSelective(Selective, OldPreemptive):
    """Selective suspension by its definition: nothing is remembered."""

    def decide(self, view: View) -> Iterator[Decision]:
        yield from self.claims_due(view)
        yield from self.go_on(view, partial(xfactor, view))
        nearest = round(view.now / self.tick)
        tick = nearest if is_by(nearest * self.tick, view.now) else nearest - 1
        has_ticked = view.now - tick * self.tick <= MOMENT
        yield from self._preempted_in_turn(view) if has_ticked else self.kept_idle(view)
        yield from self._woken(view, has_ticked, (tick + 1) * self.tick)

    def _preempted_in_turn(self, view: View) -> Iterator[Decision]:
        """Yield the decisions at a tick: each job that is idle now has one turn, the largest xfactor first, then by
        rank.
        """
        idle, seated = self.idle(view), set[Job]()
        for job in sorted(idle, key=lambda job: (-xfactor(view, job), job.rank)):
            if self.fits(view, job):
                yield self.room_taken(view, job)
                seated.add(job)
            elif (victims := self._victims(view, job, xfactor(view, job))) is not None:
                mine = xfactor(view, job)
                reasons: dict[int, Reason] = {v.rank: Outranked(job, mine, xfactor(view, v), self.sf) for v in victims}
                yield from self.preempt(view, job, victims, reasons)
                seated.add(job)
        if view.curious:
            for job in idle:
                if job not in seated:
                    yield Keep(job, self.why_nobody(view, job))

    def _victims(self, view: View, job: Job, mine: float) -> list[Job] | None:
        """Return whom the job would suspend if its xfactor were `mine`; None if it may not preempt."""
        heights = [
            (self.threshold(view, run) if run.runs else inf, -rank, run.job) for rank, run in view.running.items()
        ]
        ranked, pinned = sorted(heights), self.pinned(view, job.rank)
        allowed = [
            o for height, _, o in ranked if reaches(mine, self.sf * height, job.estimate) and job.procs >= o.procs / 2
        ]
        if not view.in_time(job):
            return None
        if pinned is None:
            return enough(job.procs - self.count_unclaimed(view), allowed)
        claimed = any(int(claim) & pinned for claim in view.notes.get("claim", {}).values())
        there = [other for _, _, other in ranked if view.held(other.rank) & pinned]
        return there if not claimed and not pinned & ~view.there and {*there} <= {*allowed} else None

    def _woken(self, view: View, has_ticked: bool, soon: float) -> Iterator[Decision]:
        """Yield the request for a pass at the first tick at which an idle job can start or preempt."""
        end = view.ends[0][0] if view.ends else inf
        first = (
            view.now
            if has_ticked and self.roomy(view)
            else min(map(partial(self._first, view), self.idle(view)), default=inf)
        )
        if soon < end and first < end and (at := max(soon, ceil(first / self.tick) * self.tick)) < end:
            yield Wake(at, is_renewed=True)

    def _first(self, view: View, job: Job) -> float:
        """Return when the job may preempt, if the same jobs run until then."""
        steps = sorted(self.sf * self.threshold(view, run) for run in view.running.values() if run.runs)
        least = next((each for each in steps if self._victims(view, job, each) is not None), inf)
        return payable_from(job.submit + view.ran(job.rank), least, job.estimate)


@dataclass(frozen=True)
class OldTunable(OldSelective, Tunable):
    def decide(self, view: View) -> Iterator[Decision]:
        ended = [(view.now, job.rank) for job in view.completed] if "finished" in view.notes else view.finished
        count, total = view.notes.setdefault("finished", {}), view.notes.setdefault("slowdown", {})
        for end, rank in ended:
            job, ran = view.job(rank), view.ran(rank)
            kind = category_of(job.estimate, job.procs)
            count[kind] = count.get(kind, 0) + 1
            total[kind] = total.get(kind, 0) + 1 + whole(end - job.submit - ran) / max(ran, TAU)
        yield from super().decide(view)


OLD: dict[type[Policy], type[Policy]] = {Immediate: OldImmediate, Selective: OldSelective, Tunable: OldTunable}
