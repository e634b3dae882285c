"""Shortest job first with a bound on the wait of each job (Zotkin et al., section 5, table 8)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from sim.decisions.reasons import WhenFree
from sim.decisions.reasons_to_wait import BreaksBound, WouldDelay
from sim.machine.moment import is_by, whole
from sim.policies.backfill.bounds import Placement, place_within
from sim.policies.orders import Order, ShortestFirst
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("shadow", "ZKP section 5, table 8")
@dataclass(frozen=True)
class Shadow(Ordered):
    """EASY, shortest job first, but no job starts that would delay a waiting job past its bound.

    The bound is `shadows` times the wait that conservative backfilling would promise on arrival, if all waiting jobs
    were then planned by rank around the running ones. The effect of a start on other jobs is found by planning them
    from nothing in order of their bounds; a job that was past its bound before does not count. A job that fits but may
    not start for that reason is passed over and does not become the head. The bound forbids starts, it forces none: a
    job may still miss it while the head is waited for. ZKP call it a guarantee.
    """

    order: Order = order_field(ShortestFirst())
    shadows: float = parameter(1.0, "longest allowed wait, as a multiple of the promised wait (ZKP table 8)", low=0.0)

    def decide(self, now: Moment) -> None:
        bounds = now.notes.setdefault("bound", {})
        self._bound_arrivals(now, bounds)
        head: Job | None = None
        shadow, extra = inf, 0
        for job in now.queued():
            ends = now.time + job.estimate
            if not now.fits(job):
                if head is None:
                    head = job
                    shadow, extra = now.shadow(head)
                    now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))
                else:
                    now.keep(job)
                continue
            if head is not None and not is_by(ends, shadow) and not now.spares(job, head, extra):
                now.keep(job, WouldDelay(head, shadow, ends, extra))
                continue
            others, placed = self._without(now, bounds, job)
            if placed.late is not None:
                now.keep(job, BreaksBound(placed.late, placed.starts[placed.late.rank], bounds[placed.late.rank]))
                continue
            now.start(job, placed.why(others, bounds))
            extra -= 0 if is_by(ends, shadow) else job.procs
            del bounds[job.rank]

    def _bound_arrivals(self, now: Moment, bounds: dict[int, float]) -> None:
        """Set the bounds of jobs that have just arrived, in `bounds` (rank -> bound): submit + shadows * (promised
        start - submit), with the start that conservative backfilling would promise. A job that a limit held back
        arrives when the limit allows it to start.
        """
        queue = now.queue
        if not now.arrivals() and all(job.rank in bounds for job in queue):
            return
        plan = now.draft()
        for job in sorted(queue, key=lambda job: job.rank):
            promised = plan.put(job, now.time)
            if job.rank not in bounds:
                bounds[job.rank] = job.submit + self.shadows * (promised - job.submit)

    def _without(self, now: Moment, bounds: dict[int, float], job: Job) -> tuple[list[Job], Placement]:
        """Return the waiting jobs other than `job`, and the result of placing them if `job` starts now."""
        waiting = sorted(now.queue, key=lambda job: (whole(bounds[job.rank]), job.rank))
        past = self._past(now, bounds, waiting)
        plan = now.draft()
        plan.hold(job, now.time, now.time + job.estimate)
        others = [other for other in waiting if other is not job]
        return others, place_within(plan, others, bounds, now.time, past)

    def _past(self, now: Moment, bounds: dict[int, float], waiting: list[Job]) -> frozenset[int]:
        """Return the ranks of the waiting jobs that can no longer start by their bounds."""
        everyone = frozenset(job.rank for job in waiting)
        starts = place_within(now.draft(), waiting, bounds, now.time, everyone).starts
        return frozenset(rank for rank, at in starts.items() if not is_by(at, bounds[rank]))
