"""EASY that tries several orders of the jobs behind the head and uses the best one (pyss's greedy EASY)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve
from sim.decisions.reasons import BestOfOrders
from sim.policies.backfill.room import at_shadow, delays, no_room, start_in_order, those_in_time
from sim.policies.backfill.tails import in_tail
from sim.policies.orders import Fcfs
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job

TRIED = ("queue", "latest", "narrow", "sjf", "saf")
"""Orders that are tried; of orders that are equally good the first in this list is used."""
_WORTH = {
    "jobs": lambda job: 1,
    "processors": lambda job: job.procs,
    "area": lambda job: job.procs * job.estimate,
}


@policy("greedy", "pyss")
@dataclass(frozen=True)
class Greedy(Ordered):
    """EASY that tries the jobs behind the head in five orders and uses the best.

    The orders are the queue, the latest arrival, the narrowest, the shortest, and the smallest area first; the best
    starts the most jobs (or processors, or area). In each the rules are EASY's. pyss counts jobs, too, and takes any of
    equally good orders; here it is the first of the list.
    """

    by: Literal["jobs", "processors", "area"] = parameter(
        "jobs",
        "what the best order maximises: jobs, processors or area started",
        choices=("jobs", "processors", "area"),
    )
    plans = "the heads"

    def promises(self) -> bool:
        """Return True if the head's reservation never moves later, which holds for a queue in order of arrival."""
        return self.order == Fcfs()

    def decide(self, view: View) -> Iterator[Decision]:
        queue = iter(view.queue)
        head = yield from start_in_order(queue, view)
        if head is None:
            return
        shadow, extra = view.shadow(head)
        left = view.beside(head, extra)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        others = yield from those_in_time(view, queue)
        if not others:
            return
        late = {job for job in others if view.now + job.estimate > shadow}
        if view.has_nodes:
            found = {tail: _passing_on_nodes(in_tail(others, tail), view, head, shadow, late) for tail in TRIED}
        else:
            found = {tail: _passing(in_tail(others, tail), view.free, extra, late) for tail in TRIED}
        best = max(TRIED, key=lambda tail: sum(map(_WORTH[self.by], found[tail])))
        for job in found[best]:
            yield Backfill(job, BestOfOrders(head, shadow, best, len(found[best])))
            if job in late:
                left.count(job)
        if view.curious:
            started = set(found[best])
            for job in (job for job in others if job not in started):
                ends = view.now + job.estimate
                yield Keep(job, delays(head, shadow, ends, left) if view.fits(job) else no_room(view, job))


def _passing(jobs: Iterable[Job], free: int, extra: int, late: Collection[Job]) -> list[Job]:
    """Return those of `jobs`, tried in this order, that may pass the head by EASY's two rules.

    Jobs in `late` would end after the head's start and share the extra processors.
    """
    passing = []
    for job in jobs:
        if job.procs <= (min(free, extra) if job in late else free):
            passing.append(job)
            free -= job.procs
            extra -= job.procs if job in late else 0
    return passing


def _passing_on_nodes(jobs: Iterable[Job], view: View, head: Job, shadow: float, late: Collection[Job]) -> list[Job]:
    """Return those of `jobs`, tried in this order, that may pass the head on a machine of nodes.

    Jobs in `late` would end after `shadow`, the head's start; they may pass only if the head still fits at that time.
    """
    plan, now, passing = view.running_plan(), view.now, list[Job]()
    for job in jobs:
        if not plan.admits(job, now, job.estimate):
            continue
        plan.hold(job, now, now + job.estimate)
        if job in late and not plan.admits(head, shadow, head.estimate):
            plan.let_go(job, now, now + job.estimate)
        else:
            passing.append(job)
    return passing
