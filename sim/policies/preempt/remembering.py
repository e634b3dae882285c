"""Base of selective suspension: its memory from pass to pass, so that a pass need not examine every idle job.

Remembered are tolls (`sim.policies.preempt.tolls`: a job may preempt when its xfactor is `sf` times its toll), and the
slowdowns of finished jobs. The compiled loop has its own form of this memory (`sim.kernel.tolls`).
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from sim.decisions.sentences import Reason
from sim.policies.calls import Pass
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.tolls import Tolls
from sim.policies.view import RunningJob, View
from sim.workload.categories import category_of
from sim.workload.model import Job


class Finished(NamedTuple):
    """Finished job and its end."""

    job: Job
    end: float


class Remembering(Preemptive):
    """Policy that remembers slowdowns, and tolls (see the module), in `view.notes`."""

    sf: float

    def height(self, now: View, run: RunningJob) -> float:
        """Return a running job's xfactor (expansion factor); infinite if the policy protects the job from being
        suspended.
        """
        raise NotImplementedError

    def why_nobody(self, view: View, job: Job) -> Reason:
        """Return the reason why the idle job may not suspend any job."""
        raise NotImplementedError

    def look(self, view: View, has_ticked: bool) -> bool:
        """Update the tolls. Return True if only newly arrived jobs can start: since the last pass no job has started to
        run or has left its processors, and `has_ticked` is False (it is no time to preempt).
        """
        if view.resized:
            view.notes.pop("tolls", None)
        tolls = self._tolls(view)
        if tolls.stood == _stand(view) and not has_ticked:
            return True
        tolls.look(view)  # suspended victims may resume at once
        return False

    def remember(self, view: View, has_ticked: bool) -> None:
        """Remember the numbers of running and suspended jobs and the free processors at the end of this pass. Nothing
        is remembered at a tick (time to preempt), or if suspending takes time, because these numbers would not show
        every change.
        """
        tolls = self._tolls(view)
        tolls.stood = None if has_ticked or tolls.moving else _stand(view)

    # Turns

    def begin_turns(self, view: View) -> None:
        """Begin the turns of this tick (time to preempt): in its turn, each idle job may start or preempt once."""
        tolls = self._tolls(view)
        tolls.idle, tolls.seated, tolls.last = self.idle(view) if view.curious else [], {*view.running}, (-inf, -1)

    def next_turn(self, view: View) -> Job | None:
        """Return the next idle job that fits or may preempt, the largest xfactor first, then by rank; None if there is
        no other. Each job gets one turn; jobs suspended at this tick get none.
        """
        tolls = self._tolls(view)
        turns = [turn for turn in tolls.payers(view) if turn > tolls.last and turn[1] not in tolls.seated]
        if not turns:
            return None
        tolls.last = min(turns)
        tolls.seated.add(tolls.last[1])
        return view.job(tolls.last[1])

    def keep_without_turn(self, now: Pass) -> None:
        """Record why the jobs that had no turn at this tick (time to preempt) wait, if the run records reasons."""
        tolls = self._tolls(now)
        for job in tolls.idle:
            if job.rank not in tolls.seated:
                now.keep(job, self.why_nobody(now, job))

    def needs_own(self, view: View, job: Job) -> bool:
        """Return True if the idle job must resume on its own processors."""
        return self.pinned(view, job.rank) is not None

    def may_give_way(self, view: View, runner: Job, job: Job) -> bool:
        """Return True if the idle job could use the processors of the running job `runner`: it may run anywhere, or
        must resume on some of these.
        """
        pinned = self.pinned(view, job.rank)
        return pinned is None or bool(view.held(runner.rank) & pinned)

    # The next pass

    def next_end(self, view: View) -> float:
        """Return the first expected end of a running job, infinite if none runs."""
        ends = view.ends
        return ends[0][0] if ends else inf

    def first_payable(self, view: View, is_calm: bool, has_ticked: bool, soon: float, end: float) -> float:
        """Return a time before which no idle job may preempt; infinite if that time is not before `end`.

        The result need not be exact if it is at most `soon`. If `is_calm` (`look` returned True), the result of the
        last pass is reused, and only jobs that have just arrived are examined. After a tick (`has_ticked`) with idle
        jobs that fit, the result is now.
        """
        tolls = self._tolls(view)
        if is_calm:
            if view.arrived:
                came = [job for job in view.arrived if job.rank not in view.running]
                tolls.first = tolls.soonest_of(view, came, soon, tolls.first)
        else:
            tolls.first = view.now if has_ticked and self.roomy(view) else tolls.soonest(view, soon, end)
        return tolls.first

    def _tolls(self, view: View) -> Tolls:
        tolls: Tolls | None = view.notes.get("tolls")
        if tolls is None:
            tolls = view.notes["tolls"] = Tolls(self, self.memory)
        return tolls

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
        """Mark the running jobs in categories with newly finished jobs, so that the next update checks again whether
        the policy protects them from being suspended.
        """
        if view.completed:
            kinds, tolls = {*map(_kind, view.completed)}, self._tolls(view)
            alike = [rank for rank, run in view.running.items() if _kind(run.job) in kinds]
            tolls.unsettled = {*tolls.unsettled, *alike}

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


def _stand(view: View) -> tuple[int, int, int]:
    """Return (free processors as bits, number of running jobs, number of suspended jobs).

    At least one of them differs after a job has started to run or has left its processors.
    """
    return view.free_set, len(view.running), len(view.suspended)
