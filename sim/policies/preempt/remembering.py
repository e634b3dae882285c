"""Base of selective suspension: what it remembers from pass to pass, so that a pass need not examine every idle job.

Remembered are the tolls of idle jobs, which are the xfactors from which they may preempt (`Selective.toll`), and the
mean slowdowns of finished jobs. A toll is computed again after a job has started or left on the processors in question,
so that schedules and steps do not depend on this memory. The compiled loop has its own (`sim.kernel.tolls`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from sim.decisions.sentences import Reason
from sim.policies.calls import Pass
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.xfactors import payable_from
from sim.policies.ranking import Ranking
from sim.policies.view import RunningJob, View
from sim.workload.categories import category_of
from sim.workload.model import Job


class Finished(NamedTuple):
    """Finished job and its end."""

    job: Job
    end: float


class Tolls:
    """Tolls (xfactors from which idle jobs may preempt) with the jobs that run as at the last update."""

    __slots__ = (
        "by_threshold",
        "by_width",
        "claims",
        "exact",
        "held",
        "least",
        "lows",
        "moments",
        "running",
        "there",
        "thresholds",
    )

    def __init__(self, there: int = -1, claims: Mapping[int, int] = MappingProxyType({})) -> None:
        self.there, self.claims = there, claims
        """Available processors as bits, and claims, at the last update; if these change, everything is forgotten"""
        self.running: dict[int, RunningJob | None] = {}
        self.held: dict[int, int] = {}
        """Processors of each running job, by rank, as bits"""
        self.thresholds: dict[int, tuple[float, int, Job]] = {}
        """For each running job, by rank: (its suspension threshold, minus its rank, the job). The threshold is its
        xfactor, or infinite if it may not be suspended
        """
        self.by_threshold: list[Job] | None = None
        """Running jobs, the lowest threshold first, of equals the latest first; None if they are to be sorted again"""
        self.by_width: dict[int, float] = {}
        """Tolls of jobs that may use any processors, by number of processors"""
        self.least: dict[int, float] = {}
        self.moments: dict[int, float] = {}
        """For each suspended job, by rank: a value that its toll is not below, and the time from which its xfactor
        reaches that value
        """
        self.lows: dict[int, float] = {}
        """For each job that may use any processors and was asked last, by rank: the time from which its xfactor is the
        suspension factor, below which no toll is
        """
        self.exact: set[int] = set()
        """Ranks of the suspended jobs of which that value is the toll"""

    def copy(self) -> Tolls:
        return Tolls()


class Remembering(Preemptive):
    """Policy that remembers slowdowns, and tolls (see the module), in `view.notes`."""

    sf: float

    def threshold(self, now: View, run: RunningJob) -> float:
        """Return a running job's suspension threshold: its xfactor, infinite if the policy protects the job."""
        raise NotImplementedError

    def toll(self, now: View, job: Job) -> float:
        """Return the xfactor from which the idle job may preempt; infinite if it may not suspend enough jobs."""
        raise NotImplementedError

    def price(self, now: View, job: Job, other: Job) -> float:
        """Return the xfactor from which the idle job may suspend the running job `other`."""
        raise NotImplementedError

    def why_nobody(self, now: View, job: Job) -> Reason:
        """Return the reason why the idle job may not suspend any job."""
        raise NotImplementedError

    def keep_without_turn(self, now: Pass, turns: Ranking) -> None:
        """Record why the jobs `turns`, which had no turn at this tick (time to preempt), wait, if the run records
        reasons.
        """
        if now.curious:
            without = {*turns.up()}
            for job in self.idle(now):
                if job in without:
                    now.keep(job, self.why_nobody(now, job))

    def needs_own(self, view: View, job: Job) -> bool:
        """Return True if the idle job must resume on its own processors."""
        return self.pinned(view, job.rank) is not None

    def next_end(self, view: View) -> float:
        """Return the first expected end of a running job, infinite if none runs."""
        ends = view.ends
        return ends[0][0] if ends else inf

    # Running jobs

    def by_threshold(self, view: View) -> list[Job]:
        """Return the running jobs, the lowest threshold first, of equals the latest first, as at the last question for
        a toll.
        """
        tolls: Tolls = view.notes["tolls"]
        if tolls.by_threshold is None:
            tolls.by_threshold = [job for _, _, job in sorted(tolls.thresholds.values())]
        return tolls.by_threshold

    def on_own(self, view: View, job: Job) -> list[Job]:
        """Return the jobs that run on the suspended job's own processors, the lowest threshold first, as at the last
        question for a toll.
        """
        held, own = view.notes["tolls"].held, view.suspended[job.rank]
        return [other for other in self.by_threshold(view) if held[other.rank] & own]

    def known_threshold(self, view: View, job: Job) -> float:
        """Return the remembered threshold of the running job; infinite if it may not be suspended."""
        threshold: float = view.notes["tolls"].thresholds[job.rank][0]
        return threshold

    # Tolls

    def may_pay(self, view: View, job: Job) -> bool:
        """Return False if by what is remembered the idle job's xfactor is certainly below its toll."""
        tolls = self._remembered(view)
        if not self.needs_own(view, job):
            return view.now >= tolls.lows.get(job.rank, 0.0)
        if tolls.running != view.running:
            self._follow(view, tolls)
        return view.now >= tolls.moments.get(job.rank, 0.0)

    def known_toll(self, view: View, job: Job) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        if not view.in_time(job):
            return inf
        tolls, own = self._tolls(view), self.needs_own(view, job)
        return self._toll_on_own(view, tolls, job) if own else self._toll_anywhere(view, tolls, job)

    def _toll_anywhere(self, view: View, tolls: Tolls, job: Job) -> float:
        """Return the toll of the idle job, which may use any processors; `tolls` must be up to date."""
        toll = tolls.by_width.get(job.procs)
        if toll is None:
            toll = tolls.by_width[job.procs] = self.toll(view, job)
        return toll

    def _toll_on_own(self, view: View, tolls: Tolls, job: Job) -> float:
        """Return the toll of the suspended job, which must resume on its own processors; `tolls` must be up to date."""
        if job.rank not in tolls.exact:
            own, claims = view.suspended[job.rank], tolls.claims.values()
            is_lost = own & ~view.there or any(int(claimed) & own for claimed in claims)
            self._raise(view, tolls, job, inf if is_lost else self.toll(view, job))
            tolls.exact.add(job.rank)
        return tolls.least[job.rank]

    def first_payable(self, view: View, soon: float, end: float) -> float:
        """Return the first time before `end` at which an idle job's xfactor reaches its toll, or `end`.

        The result need not be exact if it is at most `soon`.
        """
        tolls, waiting = self._remembered(view), self.anywhere(view)
        if not (waiting or view.suspended or tolls.least):
            return end
        first, known, tolls.lows = end, tolls.lows, {}
        early: list[tuple[float, Job]] = []
        for job in waiting:
            low = tolls.lows[job.rank] = known.get(job.rank) or self._moment(view, job, self.sf)
            if low < end:
                early.append((low, job))
        if early or view.suspended or tolls.least:
            self._follow(view, tolls)
        for low, job in early:
            if soon < first > low and view.in_time(job):
                first = min(first, self._moment(view, job, self._toll_anywhere(view, tolls, job)))
        for rank, moment in tolls.moments.items():
            if soon < first > moment and view.in_time(job := view.job(rank)):
                self._toll_on_own(view, tolls, job)
                first = min(first, tolls.moments[rank])
        return first

    def _raise(self, view: View, tolls: Tolls, job: Job, least: float) -> None:
        """Remember that the suspended job's toll is at least `least`."""
        tolls.least[job.rank], tolls.moments[job.rank] = least, self._moment(view, job, least)

    def _moment(self, view: View, job: Job, toll: float) -> float:
        """Return the time at which the idle job's xfactor reaches `toll`, minus a tolerance for rounding."""
        return payable_from(job.submit + view.ran(job.rank), toll, job.estimate)

    def _remembered(self, view: View) -> Tolls:
        """Return what is remembered, with tolls that may have changed since because of jobs that started or left."""
        notes = view.notes
        tolls, claims = notes.get("tolls"), notes.get("claim") or {}
        if tolls is None or tolls.there != view.there or tolls.claims != claims:
            tolls = notes["tolls"] = Tolls(view.there, {**claims})
        return tolls

    def _tolls(self, view: View) -> Tolls:
        """Return what is remembered, with the jobs that run now."""
        tolls = self._remembered(view)
        self._follow(view, tolls)
        return tolls

    def _follow(self, view: View, tolls: Tolls) -> None:
        """Bring the running and suspended jobs in `tolls` up to date."""
        if tolls.running != view.running:
            self._follow_running(view, tolls)
        if self.restart == "own" and tolls.least.keys() != view.suspended.keys():
            self._follow_suspended(view, tolls)

    def _follow_running(self, view: View, tolls: Tolls) -> None:
        """Bring the running jobs up to date, and with them the tolls of the suspended jobs on their processors."""
        running, was, held, thresholds = view.running, tolls.running, tolls.held, tolls.thresholds
        least = tolls.least
        paused = [(view.job(rank), own) for rank, own in view.suspended.items() if rank in least]
        for rank in [rank for rank, run in was.items() if rank not in running or running[rank] is not run]:
            for job, own in paused:  # a toll that the job may have determined is forgotten
                if own & held[rank] and self.price(view, job, view.job(rank)) >= least[job.rank]:
                    tolls.exact.discard(job.rank)
                    self._raise(view, tolls, job, self.sf)
            del was[rank], held[rank], thresholds[rank]
        for rank, run in running.items():
            if rank not in was:
                was[rank], held[rank] = run, view.held(rank)
                thresholds[rank] = self._threshold(view, run), -rank, run.job
                for job, own in paused:
                    if own & held[rank] and (price := self.price(view, job, run.job)) > least[job.rank]:
                        self._raise(view, tolls, job, price)
        tolls.by_threshold = None
        tolls.by_width.clear()

    def _follow_suspended(self, view: View, tolls: Tolls) -> None:
        """Forget the tolls of jobs that are no longer suspended; begin with the smallest possible toll of others."""
        least, idle = tolls.least, view.suspended.keys() - view.running.keys() - tolls.claims.keys()
        for rank in least.keys() - idle:
            del least[rank], tolls.moments[rank]
            tolls.exact.discard(rank)
        for rank in idle - least.keys():
            self._raise(view, tolls, view.job(rank), self.sf)

    def _threshold(self, view: View, run: RunningJob) -> float:
        return self.threshold(view, run) if run.runs else inf

    # Slowdowns of finished jobs

    def newly_finished(self, view: View) -> list[Finished]:
        """Return the jobs that have finished since the last pass; at the first pass of the policy all finished ones."""
        if "finished" in view.notes:
            return [Finished(job, view.now) for job in view.completed]
        view.notes.update(finished={}, slowdown={})
        return [Finished(view.job(rank), end) for end, rank in view.finished]

    def count(self, view: View, job: Job, more: float) -> None:
        """Add a finished job, whose bounded slowdown is 1 + `more`, to the number and the sum of slowdowns of its
        category.
        """
        count, total, kind = view.notes["finished"], view.notes["slowdown"], _kind(job)
        count[kind] = count.get(kind, 0) + 1
        total[kind] = total.get(kind, 0) + 1 + more

    def review(self, view: View) -> None:
        """Compute the thresholds of running jobs again, as a finished job may have changed whom the policy protects in
        its category.
        """
        if view.completed:
            kinds, tolls = {*map(_kind, view.completed)}, self._tolls(view)
            for rank, run in view.running.items():
                if _kind(run.job) in kinds and self._threshold(view, run) != tolls.thresholds[rank][0]:
                    tolls.running[rank] = None  # as if it had left and come again

    def counted(self, view: View, job: Job) -> int:
        """Return the number of finished jobs in the job's category."""
        count: int = view.notes["finished"].get(_kind(job), 0)
        return count

    def slowdowns(self, view: View, job: Job) -> float:
        """Return the sum of the bounded slowdowns of the finished jobs in the job's category."""
        total: float = view.notes["slowdown"].get(_kind(job), 0)
        return total


def _kind(job: Job) -> int:
    return category_of(job.estimate, job.procs)
