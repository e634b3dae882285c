"""Shortest job first with a bound on the wait of each job (Zhang et al. section 5, table 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start
from sim.decisions.reasons_to_wait import BreaksBound
from sim.policies.backfill.bounds import Trial, place_within
from sim.policies.backfill.room import at_shadow, delays, no_room
from sim.policies.orders import Order, ShortestFirst
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job


@policy("shadow", "ZKP section 5, table 8")
@dataclass(frozen=True)
class Shadow(Ordered):
    """EASY, shortest job first, but no job starts that would delay a waiting job past its bound.

    The bound is `shadows` times the wait that conservative backfilling would have promised on arrival, planned by rank
    from nothing. The effect of a start on other jobs is found by planning them from nothing in order of their bounds; a
    job that was past its bound before does not count. A job that fits but may not start for that reason is passed over
    and does not become the head. The bound forbids starts, it forces none: a job may still miss it while the head is
    waited for.
    """

    order: Order = order_field(ShortestFirst())
    shadows: float = parameter(1.0, "longest allowed wait, as a multiple of the promised wait (ZKP table 8)", low=0.0)

    def decide(self, view: View) -> Iterator[Decision]:
        bounds = view.notes.setdefault("bound", {})
        self._bound_arrivals(view, bounds)
        now = view.now
        head: Job | None = None
        shadow, left = inf, None
        start: type[Start | Backfill] = Start
        for job in view.queue:
            if not view.fits(job):
                if head is None:
                    head = job
                    shadow, extra = view.shadow(job)
                    left = view.beside(job, extra)
                    yield Reserve(job, shadow, at_shadow(view, job, extra))
                elif view.curious:
                    yield Keep(job, no_room(view, job))
            elif head is not None and left is not None and now + job.estimate > shadow and not left.admits(job):
                if view.curious:
                    yield Keep(job, delays(head, shadow, now + job.estimate, left))
            else:
                others, trial = self._without(view, bounds, job)
                if trial.late is not None:
                    late = trial.late
                    if view.curious:
                        yield Keep(job, BreaksBound(late, trial.starts[late.rank], bounds[late.rank]))
                else:
                    yield start(job, trial.why(others, bounds))
                    if left is not None and now + job.estimate > shadow:
                        left.count(job)
                    del bounds[job.rank]
                    continue
            start = Backfill

    def _bound_arrivals(self, view: View, bounds: dict[int, float]) -> None:
        """Set the bounds of arrivals: submit + shadows * (promised start - submit)."""
        if not view.arrived:
            return
        plan = view.plan.copy()
        for job in sorted(view.queue, key=lambda job: job.rank):
            promised = plan.put(job, view.now)
            if job.rank not in bounds:
                bounds[job.rank] = job.submit + self.shadows * (promised - job.submit)

    def _without(self, view: View, bounds: dict[int, float], job: Job) -> tuple[list[Job], Trial]:
        """Return the waiting jobs other than `job`, and the result of placing them if `job` starts now."""
        waiting = sorted(view.queue, key=lambda job: (bounds[job.rank], job.rank))
        past = self._past(view, bounds, waiting)
        plan = view.plan.copy()
        plan.hold(job, view.now, view.now + job.estimate)
        others = [other for other in waiting if other is not job]
        return others, place_within(plan, others, bounds, view.now, past)

    def _past(self, view: View, bounds: dict[int, float], waiting: list[Job]) -> frozenset[int]:
        """Return the ranks of the jobs whose earliest possible start is already after their bound."""
        everyone = frozenset(job.rank for job in waiting)
        starts = place_within(view.plan.copy(), waiting, bounds, view.now, everyone).starts
        return frozenset(rank for rank, at in starts.items() if at > bounds[rank])
