"""Base of selective suspension: what it remembers from pass to pass, so that a pass need not examine every idle job.

Remembered are the tolls of idle jobs, which are the xfactors from which they may preempt (`Selective.toll`), and the
mean slowdowns of finished jobs. A toll that is needed is computed again if a job has started or left since, so that
schedules and steps do not depend on this memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import reduce
from math import inf
from operator import or_
from typing import TYPE_CHECKING

from sim.decisions.sentences import Reason
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.xfactors import payable_from, reaches
from sim.workload.categories import category_of
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment
    from sim.engine.stay import Stay


class Tolls:
    """Tolls (xfactors from which idle jobs may preempt) with the jobs that run as at the last update."""

    def __init__(self, there: int = -1) -> None:
        self.there = there
        """Available processors as bits; if these change, everything is forgotten"""
        self.claims: dict[int, int] = {}
        self.lost = ~there
        """Claims at the last update, and the processors, as bits, on which no job can resume: down or claimed ones"""
        self.running: dict[int, Stay | None] = {}
        self.held: dict[int, int] = {}
        """Processors of each running job, by rank, as bits"""
        self.thresholds: dict[int, tuple[float, int, Job]] = {}
        """For each running job, by rank: (its suspension threshold, minus its rank, the job). The threshold is its
        xfactor, or infinite if it may not be suspended
        """
        self.by_threshold: list[Job] | None = None
        """Running jobs, the lowest threshold first, of equals the latest first; None if they are to be sorted again"""
        self.by_width: dict[int, float] = {}
        self.exact: dict[int, float] = {}
        """Tolls with the jobs that run now: by number of processors of jobs that may use any, and by rank of suspended
        jobs that must resume on their own
        """
        self.lows: dict[int, float] = {}
        """For idle jobs, by rank: the time from which the job's xfactor is the suspension factor, below which no toll
        is
        """
        self.own: dict[int, int] = {}
        """Processors of each suspended job that must resume on them, by rank, as bits"""
        self.moments: dict[int, float] = {}
        """For each of these jobs, by rank: a time before which its xfactor is below its toll"""
        self.keepers: dict[int, int] = {}
        """For some of these jobs, by rank: the running job to be suspended from the toll only for which that time was
        computed. The time is right as long as that job runs, as jobs that come only raise tolls
        """
        self.others: list[Job] = []
        """Last answer of `on_own`"""

    def copy(self) -> Tolls:
        return Tolls()

    def forget(self, rank: int) -> None:
        self.lows.pop(rank, None)
        if rank in self.own:
            del self.own[rank], self.moments[rank]
            self.keepers.pop(rank, None)
            self.exact.pop(rank, None)


class Remembering(Preemptive):
    """Policy that remembers slowdowns, and tolls (see the module), in `view.notes`."""

    sf: float

    @abstractmethod
    def xfactor(self, now: Moment, job: Job) -> float:
        """Return the job's expansion factor (xfactor) now."""

    @abstractmethod
    def threshold(self, now: Moment, run: Stay) -> float:
        """Return a running job's suspension threshold: its xfactor, infinite if the policy protects the job."""

    @abstractmethod
    def toll(self, now: Moment, job: Job) -> float:
        """Return the xfactor from which the idle job may preempt; infinite if it may not suspend enough jobs."""

    @abstractmethod
    def price(self, now: Moment, job: Job, other: Job) -> float:
        """Return the xfactor from which the idle job may suspend the running job `other`."""

    @abstractmethod
    def why_nobody(self, now: Moment, job: Job) -> Reason:
        """Return the reason why the idle job may not suspend any job."""

    def in_turn(self, view: Moment) -> Iterator[Job]:
        """Yield the jobs that are idle now, each at its turn, unless it can neither start nor preempt then. The largest
        xfactor comes first, of equals the first submitted.
        """
        had, last = {*view.running}, (-inf, -1)
        view.notes["without_turn"] = without = {job.rank for job in self.idle(view)} if view.curious else set()
        while following := [
            turn
            for job in self._jobs_that_can_go(view)
            if job.rank not in had and (turn := self._by_xfactor(view, job)) > last
        ]:
            last = min(following)
            without.discard(last[1])
            yield view.job(last[1])

    def keep_without_turn(self, now: Moment) -> None:
        without = now.notes.pop("without_turn")
        if now.curious:
            for job in self.idle(now):
                if job.rank in without:
                    now.keep(job, self.why_nobody(now, job))

    def _by_xfactor(self, view: Moment, job: Job) -> tuple[float, int]:
        return -self.xfactor(view, job), job.rank

    def _jobs_that_can_go(self, view: Moment) -> list[Job]:
        """Return the idle jobs that can start, resume or preempt now."""
        tolls, now, able = self._tolls(view), view.now, self.roomy(view)
        lows = tolls.lows
        for job in self.anywhere(view):
            if (lows.get(job.rank) or self._low(view, tolls, job)) <= now and self._can_pay(
                view, job, self._toll_anywhere(view, tolls, job)
            ):
                able.append(job)
        for rank in [rank for rank, moment in tolls.moments.items() if moment <= now]:
            job = view.job(rank)
            if self._can_pay(view, job, self._toll_on_own(view, tolls, job)):
                able.append(job)
        return able

    def _can_pay(self, view: Moment, job: Job, toll: float) -> bool:
        return reaches(self.xfactor(view, job), toll, job.estimate) and view.in_time(job)

    def needs_own(self, view: Moment, job: Job) -> bool:
        return self.pinned(view, job.rank) is not None

    def next_end(self, view: Moment) -> float:
        ends = view.ends
        return ends[0][0] if ends else inf

    # Running jobs

    def by_threshold(self, view: Moment) -> list[Job]:
        """Return the running jobs as at the last question for a toll, the lowest threshold first."""
        tolls: Tolls = view.notes["tolls"]
        if tolls.by_threshold is None:
            tolls.by_threshold = [job for _, _, job in sorted(tolls.thresholds.values())]
        return tolls.by_threshold

    def on_own(self, view: Moment, job: Job) -> list[Job]:
        """Return the jobs that run on the suspended job's own processors, in the order of `by_threshold`."""
        tolls: Tolls = view.notes["tolls"]
        held, own = tolls.held, tolls.own[job.rank]
        tolls.others = [other for other in self.by_threshold(view) if held[other.rank] & own]
        return tolls.others

    def known_threshold(self, view: Moment, job: Job) -> float:
        threshold: float = view.notes["tolls"].thresholds[job.rank][0]
        return threshold

    # Tolls

    def known_toll(self, view: Moment, job: Job) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        if not view.in_time(job):
            return inf
        tolls, own = self._tolls(view), self.needs_own(view, job)
        return self._toll_on_own(view, tolls, job) if own else self._toll_anywhere(view, tolls, job)

    def _toll_anywhere(self, view: Moment, tolls: Tolls, job: Job) -> float:
        toll = tolls.by_width.get(job.procs)
        if toll is None:
            toll = tolls.by_width[job.procs] = self.toll(view, job)
        return toll

    def _toll_on_own(self, view: Moment, tolls: Tolls, job: Job) -> float:
        """Return the toll of the suspended job, which must resume on its own processors; `tolls` must be up to date."""
        rank = job.rank
        toll = tolls.exact.get(rank)
        if toll is None:
            own, toll = tolls.own[rank], inf
            if not own & tolls.lost:
                toll = self.toll(view, job)
                for other in reversed(tolls.others):  # the last has the highest price, unless one is infinite
                    if toll < inf or self.price(view, job, other) == inf:
                        tolls.keepers[rank] = other.rank
                        break
            tolls.exact[rank], tolls.moments[rank] = toll, self._time_of_toll(view, job, toll)
        return toll

    def first_payable(self, view: Moment, soon: float, end: float) -> float:
        """Return the first time before `end` at which an idle job's xfactor reaches its toll, or `end`.

        The result need not be exact if it is at most `soon`.
        """
        tolls, first = self._tolls(view), end
        lows, known, ran = tolls.lows, tolls.by_width, view.ran
        for job in self._timely(view, self.anywhere(view)):
            if (lows.get(job.rank) or self._low(view, tolls, job)) < first:
                toll = known.get(job.procs) or self._toll_anywhere(view, tolls, job)
                moment = payable_from(job.submit + ran(job.rank), toll, job.estimate)
                if moment < first:
                    first = moment
                    if first <= soon:
                        return first
        moments = tolls.moments
        for early, rank in sorted([(moment, rank) for rank, moment in moments.items() if moment < first]):
            if early >= first:
                break
            if view.in_time(job := view.job(rank)):
                self._toll_on_own(view, tolls, job)
                first = min(first, moments[rank])
        return first

    def _low(self, view: Moment, tolls: Tolls, job: Job) -> float:
        low = tolls.lows.get(job.rank)
        if low is None:
            low = tolls.lows[job.rank] = self._time_of_toll(view, job, self.sf)
        return low

    def _time_of_toll(self, view: Moment, job: Job, toll: float) -> float:
        return payable_from(job.submit + view.ran(job.rank), toll, job.estimate)

    def _tolls(self, view: Moment) -> Tolls:
        """Return what is remembered, with the jobs that run now and are suspended now."""
        notes = view.notes
        tolls, claims = notes.get("tolls"), notes.get("claim") or {}
        if tolls is None or view.resized or tolls.there != view.there:
            tolls = notes["tolls"] = Tolls(view.there)
        if tolls.claims != claims:
            self._follow_claims(view, tolls, claims)
        if tolls.running != view.running:
            self._follow_running(view, tolls)
        if self.restart == "own" and len(tolls.own) != len(view.suspended):
            self._follow_suspended(view, tolls)
        return tolls

    def _follow_claims(self, view: Moment, tolls: Tolls, claims: Mapping[int, int]) -> None:
        """Bring the claims up to date, and forget the tolls of the suspended jobs on processors that are concerned."""
        lost = tolls.lost
        tolls.claims, tolls.lost = {**claims}, reduce(or_, map(int, claims.values()), ~tolls.there)
        for rank in [rank for rank, own in tolls.own.items() if own & (lost ^ tolls.lost)]:
            tolls.moments[rank] = tolls.lows[rank]
            tolls.keepers.pop(rank, None)
        tolls.by_width.clear()
        tolls.exact.clear()
        if self.restart == "own":
            self._follow_suspended(view, tolls)

    def _follow_running(self, view: Moment, tolls: Tolls) -> None:
        """Bring the running jobs up to date: one that comes only raises tolls, one that leaves may lower some."""
        running, was, held = view.running, tolls.running, tolls.held
        for rank in [rank for rank, run in was.items() if rank not in running or running[rank] is not run]:
            for paused in [paused for paused, keeper in tolls.keepers.items() if keeper == rank]:
                del tolls.keepers[paused]
                tolls.moments[paused] = tolls.lows[paused]
            del was[rank], held[rank], tolls.thresholds[rank]
        for rank, run in running.items():
            if rank not in was:
                was[rank], held[rank] = run, view.held(rank)
                tolls.thresholds[rank] = self._threshold(view, run), -rank, run.job
                tolls.forget(rank)
        tolls.by_threshold = None
        tolls.by_width.clear()
        tolls.exact.clear()

    def _follow_suspended(self, view: Moment, tolls: Tolls) -> None:
        """Forget the tolls of jobs that are no longer suspended; begin with the smallest possible toll of others."""
        own, idle = tolls.own, view.suspended.keys() - view.running.keys() - tolls.claims.keys()
        for rank in own.keys() - idle:
            tolls.forget(rank)
        for rank in idle - own.keys():
            own[rank] = view.suspended[rank]
            tolls.moments[rank] = self._low(view, tolls, view.job(rank))

    def _threshold(self, view: Moment, run: Stay) -> float:
        return self.threshold(view, run) if run.runs else inf

    # Slowdowns of finished jobs

    def newly_finished(self, view: Moment) -> list[tuple[Job, float]]:
        """Return the jobs that have finished since the last pass, with their ends; at the policy's first pass all."""
        if "finished" in view.notes:
            return [(job, view.now) for job in view.completed]
        view.notes.update(finished={}, slowdown={})
        return [(view.job(rank), end) for end, rank in view.finished]

    def count(self, view: Moment, job: Job, more: float) -> None:
        """Add a finished job, whose bounded slowdown is 1 + `more`, to those of its category."""
        count, total, kind = view.notes["finished"], view.notes["slowdown"], _kind(job)
        count[kind] = count.get(kind, 0) + 1
        total[kind] = total.get(kind, 0) + 1 + more

    def review(self, view: Moment) -> None:
        """Compute thresholds again where a finished job may have changed which jobs the policy protects."""
        if view.completed:
            kinds, tolls = {*map(_kind, view.completed)}, self._tolls(view)
            for rank, run in view.running.items():
                if _kind(run.job) in kinds and self._threshold(view, run) != tolls.thresholds[rank][0]:
                    tolls.running[rank] = None  # as if it had left and come again

    def counted(self, view: Moment, job: Job) -> int:
        count: int = view.notes["finished"].get(_kind(job), 0)
        return count

    def slowdowns(self, view: Moment, job: Job) -> float:
        total: float = view.notes["slowdown"].get(_kind(job), 0)
        return total


def _kind(job: Job) -> int:
    return category_of(job.estimate, job.procs)
