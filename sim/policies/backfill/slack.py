"""Slack-based backfilling (Talby & Feitelson 1999, cited by Zotkin et al. and Ward et al.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons import MadeRoom
from sim.decisions.reasons_to_wait import BreaksBound
from sim.machine.moment import whole
from sim.policies.backfill.bounds import place_within
from sim.policies.backfill.conservative import Conservative
from sim.policies.parameters import parameter
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("slack", "Talby & Feitelson 1999, cited by ZKP and W")
@dataclass(frozen=True)
class Slack(Conservative):
    """Conservative backfilling whose reservations may slip by up to slack times the job's estimate.

    A job's bound is its first reservation + slack * estimate; no start is ever later. After conservative's pass, each
    waiting job that fits now is tried in queue order. It starts if the others, placed again in order of their reserved
    starts (ties by rank), all keep within their bounds; jobs then planned for now start as well. With slack=0 the
    policy is conservative. All these starts count as backfills, as they change the order of the reservations.

    This is a simple form of Talby & Feitelson's policy. Theirs makes the slack from the job's priority and the average
    wait, and chooses the cheapest of several schedules.
    """

    slack: float = parameter(1.0, "how far a reservation may slip, in multiples of the job's estimate", low=0.0)

    def promises(self) -> bool:
        return self.slack == 0

    def decide(self, now: Moment) -> None:
        super().decide(now)
        bounds, reserved = now.notes.setdefault("bound", {}), now.reserved
        for job in now.arrivals():
            if job.rank in reserved:
                bounds[job.rank] = reserved[job.rank] + self.slack * job.estimate
        if self.slack:
            for job in now.queued():
                if now.fits(job) and job.rank in reserved:
                    self._squeeze_in(now, bounds, job)
        for rank in bounds.keys() - reserved.keys():
            del bounds[rank]

    def _squeeze_in(self, now: Moment, bounds: dict[int, float], job: Job) -> None:
        """Start the job now if all other reservations can be moved without passing their bounds."""
        reserved = now.reserved
        others = [
            now.job(rank) for _, rank in sorted((whole(at), rank) for rank, at in reserved.items()) if rank != job.rank
        ]
        plan = now.running_plan()
        on = plan.hold(job, now.time, now.time + job.estimate)
        if plan.shortage() is not None:
            return  # in the way of a reservation granted by an earlier policy
        placed = place_within(plan, others, bounds, now.time, frozenset())
        if placed.late is not None:
            now.keep(job, BreaksBound(placed.late, placed.starts[placed.late.rank], bounds[placed.late.rank]))
            return
        now.backfill(job, placed.why(others, bounds), on)
        for other in others:
            was, at = reserved[other.rank], placed.starts[other.rank]
            if at == now.time:
                now.backfill(other, MadeRoom(job, was), plan.seats_of(other))
            elif at != was or now.has_nodes:
                now.reserve(other, at, MadeRoom(job, was), plan.seats_of(other))
