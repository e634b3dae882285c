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
from sim.machine.moment import MOMENT, whole
from sim.policies.policy import Policy
from sim.policies.preempt.immediate import Immediate
from sim.policies.preempt.ladder import Ladder
from sim.policies.preempt.preemption import Preemptive, enough, first_of
from sim.policies.preempt.selective import Selective, Tunable
from sim.policies.preempt.tolls import Tolls, xfactor
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
        served = [s.job for s in view.running.values() if s.runs and self._over(s) <= view.now + MOMENT]
        served.sort(key=lambda job: (suffering(view, job), -job.rank))
        return served

    def _next_served(self, view: View) -> RunningJob | None:
        """Return the running job that will be the next to use up its slice, or None."""
        unserved = (run for run in view.running.values() if run.runs and self._over(run) > view.now + MOMENT)
        return min(unserved, key=self._over, default=None)

    def _over(self, run: RunningJob) -> float:
        """Return the time at which the running job has used up its slice."""
        return run.since + self.slice - run.ran_before


def suffering(view: View, job: Job) -> float:
    """Return the job's instantaneous xfactor: time since submit over time run; infinite before it has run."""
    ran = whole(view.ran(job.rank))
    return whole(view.now - job.submit) / ran if ran else inf


@dataclass(frozen=True)
class OldSelective(Selective, OldPreemptive):
    def decide(self, view: View) -> Iterator[Decision]:
        if "claim" in view.notes:
            yield from self.claims_due(view)
        if view.resized:
            view.notes.pop("tolls", None)
        tolls, tick = self._tolls(view), self._tick_before(view.now)
        has_ticked = view.now - tick * self.tick <= MOMENT
        came: list[Job] = []
        if is_calm := tolls.stood == _stand(view) and not has_ticked:
            for job in view.arrived:
                if self.fits(view, job):
                    yield self.room_taken(view, job)
                else:
                    came.append(job)
            yield from self.kept_idle(view)
        else:
            tolls.look(view)  # suspended victims may resume at once
            yield from self.go_on(view, partial(xfactor, view))
            yield from self._preempted_in_turn(view, tolls) if has_ticked else self.kept_idle(view)
        ends = view.ends
        end = ends[0][0] if ends else inf
        soon = (tick + 1) * self.tick
        if soon < end:  # every end of a job triggers a full check
            if is_calm:
                tolls.first = tolls.soonest_of(view, came, soon, tolls.first)
            elif has_ticked and self.roomy(view):
                tolls.first = view.now
            else:
                tolls.first = tolls.soonest(view, soon, end)
            at = max(soon, ceil(tolls.first / self.tick) * self.tick) if tolls.first < inf else inf
            if at < end:
                yield Wake(at, is_renewed=True)
        tolls.stood = None if has_ticked or tolls.moving else _stand(view)

    def _preempted_in_turn(self, view: View, tolls: Tolls) -> Iterator[Decision]:
        """Yield the preemptions of the jobs that are idle now, each considered once: the largest xfactor first, then by
        rank.
        """
        idle, seated = self.idle(view) if view.curious else [], set(view.running)
        last = (-inf, -1)
        while turns := [turn for turn in tolls.payers(view) if turn > last and turn[1] not in seated]:
            last = min(turns)
            job = view.job(last[1])
            if self.fits(view, job):
                yield self.room_taken(view, job)
            else:
                yield from self._preempted(view, tolls.ladder, job)
            seated.add(job.rank)
        for job in idle:
            if job.rank not in seated:
                yield Keep(job, self.why_nobody(view, job))

    def _preempted(self, view: View, ladder: Ladder, job: Job) -> Iterator[Decision]:
        mine, pinned = xfactor(view, job), self.pinned(view, job.rank)
        if pinned is not None:
            victims = [other for _, _, other, processors in ladder.rungs if processors & pinned]
        else:
            outranked = [other for theirs, _, other, _ in ladder.rungs if mine >= self.sf * theirs]
            allowed = [other for other in outranked if job.procs >= other.procs / 2]
            victims = enough(job.procs - self.count_unclaimed(view), allowed) or []
        reasons: dict[int, Reason] = {v.rank: Outranked(job, mine, xfactor(view, v), self.sf) for v in victims}
        yield from self.preempt(view, job, victims, reasons)

    def _tick_before(self, now: float) -> int:
        nearest = round(now / self.tick)
        return nearest if nearest * self.tick <= now else nearest - 1


def _stand(view: View) -> tuple[int, int, int]:
    """Return (free processors as bits, number of running jobs, number of suspended jobs).

    At least one of them differs after a job has started to run or has left its processors.
    """
    return view.free_set, len(view.running), len(view.suspended)


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
        if view.completed:
            self._unsettle(view, {category_of(job.estimate, job.procs) for job in view.completed})
        yield from super().decide(view)

    def _unsettle(self, view: View, kinds: set[int]) -> None:
        """Record that the limits of these categories have changed, so that the xfactors of their running jobs are
        looked at again.
        """
        jobs = map(view.job, view.running)
        tolls = self._tolls(view)
        alike = (job.rank for job in jobs if category_of(job.estimate, job.procs) in kinds)
        tolls.unsettled = {*tolls.unsettled, *alike}


OLD: dict[type[Policy], type[Policy]] = {Immediate: OldImmediate, Selective: OldSelective, Tunable: OldTunable}
