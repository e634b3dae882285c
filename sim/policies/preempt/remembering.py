"""Base of selective suspension: what it remembers from pass to pass, so that a pass need not examine every idle job.

Remembered are the tolls of idle jobs, which are the xfactors from which they may preempt (`Selective.toll`), and the
mean slowdowns of finished jobs. A toll is computed again after a job has started or left on the processors in question,
so that schedules and steps do not depend on this memory. The compiled loop has its own (`sim.kernel.tolls`).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from operator import neg
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
        self.running: dict[int, RunningJob | None] | None = None
        self.held: dict[int, int] = {}
        """Processors of each running job, by rank, as bits"""
        self.thresholds: dict[int, float] = {}
        """Suspension threshold of each running job, by rank: its xfactor, infinite if it may not be suspended"""
        self.by_threshold: list[Job] = []
        """Running jobs, the lowest threshold first, of equals the latest first"""
        self.by_width: dict[int, float] = {}
        """Tolls of jobs that may use any processors, by number of processors"""
        self.least: dict[int, float] = {}
        self.moments: dict[int, float] = {}
        """For each suspended job, by rank: a value that its toll is not below, and the time from which its xfactor
        reaches that value
        """
        self.lows: dict[int, float] = {}
        """For each waiting job asked so far, by rank: the time from which its xfactor is the suspension factor"""
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
        jobs: list[Job] = view.notes["tolls"].by_threshold
        return jobs

    def on_own(self, view: View, job: Job) -> list[Job]:
        """Return the jobs that run on the suspended job's own processors, the lowest threshold first, as at the last
        question for a toll.
        """
        tolls, own = view.notes["tolls"], view.suspended[job.rank]
        return [other for other in tolls.by_threshold if tolls.held[other.rank] & own]

    def known_threshold(self, view: View, job: Job) -> float:
        """Return the remembered threshold of the running job; infinite if it may not be suspended."""
        threshold: float = view.notes["tolls"].thresholds[job.rank]
        return threshold

    # Tolls

    def may_pay(self, view: View, job: Job) -> bool:
        """Return False if by what is remembered the idle job's xfactor is certainly below its toll."""
        tolls = self._tolls(view)
        return view.now >= tolls.moments.get(job.rank, tolls.lows.get(job.rank, 0.0))

    def known_toll(self, view: View, job: Job) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        return self._toll_in(self._tolls(view), view, job)

    def _toll_in(self, tolls: Tolls, view: View, job: Job) -> float:
        """Return the toll of the idle job, which is remembered in `tolls` or computed; `tolls` must be up to date."""
        own = self.pinned(view, job.rank)
        if not view.in_time(job):
            return inf
        if own is None:
            if job.procs not in tolls.by_width:
                tolls.by_width[job.procs] = self.toll(view, job)
            return tolls.by_width[job.procs]
        if job.rank not in tolls.exact:
            claims = view.notes.get("claim") or {}
            is_lost = own & ~view.there or any(int(claimed) & own for claimed in claims.values())
            self._raise(view, tolls, job, inf if is_lost else self.toll(view, job))
            tolls.exact.add(job.rank)
        return tolls.least[job.rank]

    def first_payable(self, view: View, soon: float, end: float) -> float:
        """Return the first time before `end` at which an idle job's xfactor reaches its toll, or `end`.

        The result need not be exact if it is at most `soon`.
        """
        tolls, first = self._tolls(view), end
        for job in self.anywhere(view):
            low = tolls.lows.get(job.rank)
            if low is None:  # no xfactor is below 1
                low = tolls.lows[job.rank] = self._moment(view, job, self.sf)
            if soon < first > low:
                first = min(first, self._moment(view, job, self._toll_in(tolls, view, job)))
        for rank, moment in tolls.moments.items():
            if soon < first > moment and view.in_time(job := view.job(rank)):
                self._toll_in(tolls, view, job)
                first = min(first, tolls.moments[rank])
        return first

    def _raise(self, view: View, tolls: Tolls, job: Job, least: float) -> None:
        """Remember that the suspended job's toll is at least `least`."""
        tolls.least[job.rank], tolls.moments[job.rank] = least, self._moment(view, job, least)

    def _moment(self, view: View, job: Job, toll: float) -> float:
        """Return the time at which the idle job's xfactor reaches `toll`, minus a tolerance for rounding."""
        return payable_from(job.submit + view.ran(job.rank), toll, job.estimate)

    def _tolls(self, view: View) -> Tolls:
        """Return what is remembered, without what may be untrue now."""
        notes = view.notes
        tolls, claims = notes.get("tolls"), notes.get("claim") or {}
        if tolls is None or tolls.there != view.there or tolls.claims != claims:
            tolls = notes["tolls"] = Tolls(view.there, {**claims})
        others = self.restart == "own" and tolls.least.keys() != view.suspended.keys()
        if tolls.running != view.running or others:  # a job may have resumed and ended since, so that the same jobs run
            self._follow(view, tolls)
        return tolls

    def _follow(self, view: View, tolls: Tolls) -> None:
        """Bring the running jobs up to date, and with them the tolls of the suspended jobs on their processors."""
        running, held, thresholds, least = view.running, tolls.held, tolls.thresholds, tolls.least
        was, tolls.running = tolls.running or {}, {**running}
        for rank in [rank for rank, run in was.items() if rank not in running or running[rank] != run]:
            for job in self._met(view, tolls, held[rank]):
                if self.price(view, job, view.job(rank)) >= least[job.rank]:  # it may have determined the toll
                    tolls.exact.discard(job.rank)
                    self._raise(view, tolls, job, self.sf)
            del held[rank], thresholds[rank]
        for rank in [rank for rank in running if rank not in held]:
            held[rank], thresholds[rank] = view.held(rank), self._threshold(view, running[rank])
            tolls.lows.pop(rank, None)
            for job in self._met(view, tolls, held[rank]):
                if (price := self.price(view, job, view.job(rank))) > least[job.rank]:
                    self._raise(view, tolls, job, price)
        tolls.by_threshold = [
            running[-rank].job for _, rank in sorted(zip(thresholds.values(), map(neg, thresholds), strict=True))
        ]
        tolls.by_width.clear()
        if self.restart == "own" and least.keys() != view.suspended.keys():
            idle = {*view.suspended}.difference(running, view.notes.get("claim") or ())
            for rank in least.keys() - idle:
                del least[rank], tolls.moments[rank]
                tolls.exact.discard(rank)
            for rank in idle - least.keys():
                self._raise(view, tolls, view.job(rank), self.sf)

    def _met(self, view: View, tolls: Tolls, processors: int) -> list[Job]:
        """Return the suspended jobs that are remembered and need some of these processors."""
        least = tolls.least
        return [view.job(rank) for rank, own in view.suspended.items() if own & processors and rank in least]

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
                if _kind(run.job) in kinds and self._threshold(view, run) != tolls.thresholds[rank]:
                    tolls.running = {**(tolls.running or {}), rank: None}  # as if it had left and come again

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
