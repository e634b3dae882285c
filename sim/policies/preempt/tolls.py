"""Tolls of idle jobs, which are the xfactors from which they may preempt (`Selective.toll`), kept from pass to pass.

The policy computes each toll, threshold and xfactor; here are the loops over all jobs, for a compiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import inf
from operator import or_
from typing import TYPE_CHECKING, Any

from sim.policies.preempt.xfactors import payable_from, reaches
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
        self.sorted: list[Job] | None = None
        """Last answer of `by_threshold`; None if the running jobs are to be sorted again"""
        self.by_width: dict[int, float] = {}
        self.exact: dict[int, float] = {}
        """Tolls with the jobs that run now: by number of processors of jobs that may use any, and by rank of suspended
        jobs that must resume on their own
        """
        self.lows: dict[int, float] = {}
        """For idle jobs, by rank: time from which their xfactors are the suspension factor, which no toll is below"""
        self.own: dict[int, int] = {}
        """Processors of each suspended job that must resume on them, by rank, as bits"""
        self.moments: dict[int, float] = {}
        """For each of these jobs, by rank: a time before which its xfactor is below its toll"""
        self.keepers: dict[int, int] = {}
        """For some of these jobs, by rank: the running job to be suspended from the toll only for which that time was
        computed. The time is right as long as that job runs, as jobs that come only raise tolls
        """
        self.others: list[Job] = []
        """Last answer of `on_its_own`"""

    def copy(self) -> Tolls:
        return Tolls()

    def forget(self, rank: int) -> None:
        self.lows.pop(rank, None)
        if rank in self.own:
            del self.own[rank], self.moments[rank]
            self.keepers.pop(rank, None)
            self.exact.pop(rank, None)

    def by_threshold(self) -> list[Job]:
        """Return the running jobs, the lowest threshold first, of equals the latest first."""
        if self.sorted is None:
            self.sorted = [job for _, _, job in sorted(self.thresholds.values())]
        return self.sorted

    def on_its_own(self, rank: int) -> list[Job]:
        """Return the jobs that run on the suspended job's own processors, in the order of `by_threshold`."""
        held, own = self.held, self.own[rank]
        self.others = [other for other in self.by_threshold() if held[other.rank] & own]
        return self.others

    # Tolls; `policy` is a policy of the class `Remembering`, which a user may have written

    def can_pay(self, policy: Any, view: Moment, job: Job, toll: Any) -> bool:
        return reaches(policy.xfactor(view, job), toll, job.estimate) and view.in_time(job)

    def that_can_pay(self, policy: Any, view: Moment) -> list[Job]:
        now, lows = view.time, self.lows
        able = [
            job
            for job in policy.anywhere(view)
            if (lows.get(job.rank) or self._low(policy, view, job)) <= now
            and self.can_pay(policy, view, job, self.anywhere(policy, view, job))
        ]
        for rank in [rank for rank, moment in self.moments.items() if moment <= now]:
            job = view.job(rank)
            if self.can_pay(policy, view, job, self.on_own(policy, view, job)):
                able.append(job)
        return able

    def anywhere(self, policy: Any, view: Moment, job: Job) -> Any:
        """Return the toll of an idle job that may use any processors; the object must be up to date."""
        toll: Any = self.by_width.get(job.procs)
        if toll is None:
            toll = self.by_width[job.procs] = policy.toll(view, job)
        return toll

    def on_own(self, policy: Any, view: Moment, job: Job) -> Any:
        """Return the toll of a suspended job that must resume on its own processors; the object must be up to date."""
        rank = job.rank
        toll: Any = self.exact.get(rank)
        if toll is None:
            toll = inf
            if not self.own[rank] & self.lost:
                toll = policy.toll(view, job)
                for other in reversed(self.others):  # the last has the highest price, unless one is infinite
                    if toll < inf or policy.price(view, job, other) == inf:
                        self.keepers[rank] = other.rank
                        break
            self.exact[rank], self.moments[rank] = toll, _time_of_toll(view, job, toll)
        return toll

    def first_payable(self, policy: Any, view: Moment, soon: float, end: float) -> float:
        """Return what `Remembering.first_payable` returns; the object must be up to date."""
        lows, known, first, jobs = self.lows, self.by_width, end, list[Job](policy.anywhere(view))
        for job in jobs:
            if view.in_time(job) and (lows.get(job.rank) or self._low(policy, view, job)) < first:
                toll: Any = known.get(job.procs) or self.anywhere(policy, view, job)
                moment = _time_of_toll(view, job, toll)
                if moment < first:
                    first = moment
                    if first <= soon:
                        return first
        for early, rank in sorted([(moment, rank) for rank, moment in self.moments.items() if moment < first]):
            if early >= first:
                break
            if view.in_time(job := view.job(rank)):
                self.on_own(policy, view, job)
                first = min(first, self.moments[rank])
        return first

    def _low(self, policy: Any, view: Moment, job: Job) -> float:
        low = self.lows.get(job.rank)
        if low is None:
            low = self.lows[job.rank] = _time_of_toll(view, job, policy.sf)
        return low

    def follow(self, policy: Any, view: Moment, claims: Mapping[int, int]) -> None:
        is_own = policy.restart == "own"
        if self.claims != claims:
            self._follow_claims(policy, view, claims, is_own)
        if self.running != view.running:
            self._follow_running(policy, view)
        if is_own and len(self.own) != len(view.suspended):
            self._follow_suspended(policy, view)

    def _follow_claims(self, policy: Any, view: Moment, claims: Mapping[int, int], is_own: bool) -> None:
        """Bring the claims up to date, and forget the tolls of the suspended jobs on processors that are concerned."""
        lost = self.lost
        self.claims, self.lost = {**claims}, reduce(or_, map(int, claims.values()), ~self.there)
        for rank in [rank for rank, own in self.own.items() if own & (lost ^ self.lost)]:
            self.moments[rank] = self.lows[rank]
            self.keepers.pop(rank, None)
        self.by_width.clear()
        self.exact.clear()
        if is_own:
            self._follow_suspended(policy, view)

    def _follow_running(self, policy: Any, view: Moment) -> None:
        """Bring the running jobs up to date: one that comes only raises tolls, one that leaves may lower some."""
        running: dict[int, Stay] = {**view.running}
        was, held = self.running, self.held
        for rank in [rank for rank, run in was.items() if run is None or running.get(rank) is not run]:
            for paused in [paused for paused, keeper in self.keepers.items() if keeper == rank]:
                del self.keepers[paused]
                self.moments[paused] = self.lows[paused]
            del was[rank], held[rank], self.thresholds[rank]
        for rank, run in running.items():
            if rank not in was:
                was[rank], held[rank] = run, view.held(rank)
                self.thresholds[rank] = policy.running_threshold(view, run), -rank, run.job
                self.forget(rank)
        self.sorted = None
        self.by_width.clear()
        self.exact.clear()

    def _follow_suspended(self, policy: Any, view: Moment) -> None:
        """Forget the tolls of jobs that are no longer suspended; begin with the smallest possible toll of others."""
        own, idle = self.own, view.suspended.keys() - view.running.keys() - self.claims.keys()
        for rank in own.keys() - idle:
            self.forget(rank)
        for rank in idle - own.keys():
            own[rank] = view.suspended[rank]
            self.moments[rank] = self._low(policy, view, view.job(rank))


def _time_of_toll(view: Moment, job: Job, toll: Any) -> float:
    return payable_from(job.submit + view.ran(job.rank), toll, job.estimate)
