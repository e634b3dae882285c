"""Slack-based backfilling (Talby & Feitelson 1999, cited by Zotkin et al. and Ward et al.)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve
from sim.decisions.reasons import MadeRoom
from sim.decisions.reasons_to_wait import BreaksBound
from sim.policies.backfill.bounds import place_within
from sim.policies.backfill.conservative import Conservative
from sim.policies.parameters import parameter
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job


@policy("slack", "Talby & Feitelson 1999, cited by ZKP and W")
@dataclass(frozen=True)
class Slack(Conservative):
    """Conservative backfilling whose reservations may slip by up to slack times the job's estimate.

    A job's bound is its first reservation + slack * estimate; no start is ever later. After conservative's pass, each
    waiting job that fits now is tried in queue order. It starts if the others, placed again in order of their reserved
    starts (ties by rank), all keep within their bounds; jobs then planned for now start as well. With slack=0 the
    policy is conservative.
    """

    slack: float = parameter(1.0, "how far a reservation may slip, in multiples of the job's estimate", low=0.0)

    def promises(self) -> bool:
        return self.slack == 0

    def decide(self, view: View) -> Iterator[Decision]:
        bounds = view.notes.setdefault("bound", {})
        yield from super().decide(view)
        for job in view.arrived:
            if job.rank in view.reserved:
                bounds[job.rank] = view.reserved[job.rank] + self.slack * job.estimate
        if self.slack:
            for job in view.queue:
                if view.fits(job) and job.rank in view.reserved:
                    yield from self._squeeze_in(view, bounds, job)
        for rank in bounds.keys() - view.reserved.keys():
            del bounds[rank]

    def _squeeze_in(self, view: View, bounds: dict[int, float], job: Job) -> Iterator[Decision]:
        """Start `job` now if all other reservations can be moved without passing their bounds; otherwise yield the
        reason why it waits.
        """
        by_start = sorted((at, rank) for rank, at in view.reserved.items() if rank != job.rank)
        others = [view.job(rank) for _, rank in by_start]
        plan = view.running_plan()
        on = plan.hold(job, view.now, view.now + job.estimate)
        if plan.shortage() is not None:
            return  # in the way of a reservation granted by an earlier policy
        trial = place_within(plan, others, bounds, view.now, frozenset())
        if trial.late is not None:
            if view.curious:
                late = trial.late
                yield Keep(job, BreaksBound(late, trial.starts[late.rank], bounds[late.rank]))
            return
        yield Backfill(job, trial.why(others, bounds), on)
        for other in others:
            was, at = view.reserved[other.rank], trial.starts[other.rank]
            if at == view.now:
                yield Backfill(other, MadeRoom(job, was), plan.seats_of(other))
            elif at != was or view.has_nodes:
                yield Reserve(other, at, MadeRoom(job, was), on=plan.seats_of(other))
