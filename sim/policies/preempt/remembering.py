"""Base of selective suspension: what it remembers from pass to pass, so that a pass need not examine every idle job.

Remembered are the tolls of idle jobs, which are the xfactors from which they may preempt (`Selective.toll`), and the
mean slowdowns of finished jobs. A toll that is needed is computed again if a job has started or left since, so that
schedules and steps do not depend on this memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from sim.decisions.sentences import Reason
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.tolls import Tolls
from sim.workload.categories import category_of
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment
    from sim.engine.stay import Stay


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
            for job in self.roomy(view) + self._tolls(view).that_can_pay(self, view)
            if job.rank not in had and (turn := (-self.xfactor(view, job), job.rank)) > last
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

    def needs_own(self, view: Moment, job: Job) -> bool:
        return self.pinned(view, job.rank) is not None

    def next_end(self, view: Moment) -> float:
        ends = view.ends
        return ends[0][0] if ends else inf

    # Running jobs

    def by_threshold(self, view: Moment) -> list[Job]:
        """Return the running jobs as at the last question for a toll, the lowest threshold first."""
        tolls: Tolls = view.notes["tolls"]
        return tolls.by_threshold()

    def on_own(self, view: Moment, job: Job) -> list[Job]:
        """Return the jobs that run on the suspended job's own processors, in the order of `by_threshold`."""
        tolls: Tolls = view.notes["tolls"]
        return tolls.on_its_own(job.rank)

    def known_threshold(self, view: Moment, job: Job) -> float:
        threshold: float = view.notes["tolls"].thresholds[job.rank][0]
        return threshold

    # Tolls

    def known_toll(self, view: Moment, job: Job) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        if not view.in_time(job):
            return inf
        tolls, own = self._tolls(view), self.needs_own(view, job)
        toll: float = tolls.on_own(self, view, job) if own else tolls.anywhere(self, view, job)
        return toll

    def first_payable(self, view: Moment, soon: float, end: float) -> float:
        """Return the first time before `end` at which an idle job's xfactor reaches its toll, or `end`.

        The result need not be exact if it is at most `soon`.
        """
        return self._tolls(view).first_payable(self, view, soon, end)

    def _tolls(self, view: Moment) -> Tolls:
        """Return what is remembered, with the jobs that run now and are suspended now."""
        notes = view.notes
        tolls: Tolls | None = notes.get("tolls")
        if tolls is None or view.resized or tolls.there != view.there:
            tolls = notes["tolls"] = Tolls(view.there)
        tolls.follow(self, view, notes.get("claim") or {})
        return tolls

    def running_threshold(self, view: Moment, run: Stay) -> float:
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
                if _kind(run.job) in kinds and self.running_threshold(view, run) != tolls.thresholds[rank][0]:
                    tolls.running[rank] = None  # as if it had left and come again

    def counted(self, view: Moment, job: Job) -> int:
        count: int = view.notes["finished"].get(_kind(job), 0)
        return count

    def slowdowns(self, view: Moment, job: Job) -> float:
        total: float = view.notes["slowdown"].get(_kind(job), 0)
        return total


def _kind(job: Job) -> int:
    return category_of(job.estimate, job.procs)
