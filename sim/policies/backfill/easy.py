"""EASY, or aggressive, backfilling (Lifka 1995; ZKP section 2, K section 2.1.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start
from sim.decisions.reasons import EarliestHole, EndsBefore, Planned
from sim.decisions.reasons_to_wait import PlannedLater
from sim.policies.backfill.room import at_shadow, delays, in_order, no_room, passes
from sim.policies.backfill.tails import TAILS, Tail, in_tail
from sim.policies.orders import Fcfs
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job


@policy("easy", "ZKP section 2, K section 2.1.2")
@dataclass(frozen=True)
class Easy(Ordered):
    """Jobs may pass the head of the queue, the first that does not fit, if that does not delay it.

    With depth=k the first k jobs that cannot start get reservations, each as early as possible in queue order, and a
    candidate may delay none of them. With tail=sjf the jobs behind them are tried shortest first (Tsafrir, Etsion &
    Feitelson's SJBF). With tail=latest the latest arrival is first (pyss's reverse). Ties are in queue order. pyss runs
    a pass after every event of an instant, here all events of an instant share one pass.
    """

    depth: int = parameter(1, "how many waiting jobs get a reservation", low=1)
    tail: Tail = parameter("queue", "in which order those behind them are tried", choices=TAILS)

    plans = "the heads"

    def promises(self) -> bool:
        """Return True in order of arrival: the head stays the head; in other orders another job may pass it."""
        return self.order == Fcfs() and self.depth == 1

    def decide(self, view: View) -> Iterator[Decision]:
        queue, fits = iter(view.queue), view.fits
        for head in queue:
            if not fits(head):
                break
            yield Start(head, in_order(view.free))
        else:
            return
        if self.depth > 1:
            yield from self._deep(view, [head, *queue])
            return
        now, free, curious, looks = view.now, view.free, view.curious, view.has_nodes or view.closes < inf
        shadow, extra = view.shadow(head)
        left = view.beside(head, extra)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        for job in in_tail(queue, self.tail):
            if job.procs > free or (looks and not view.fits(job)):
                if curious:
                    yield Keep(job, no_room(view, job))
            elif now + job.estimate <= shadow:
                yield Backfill(job, EndsBefore(head, shadow, now + job.estimate))
                free = view.free
            elif left.admits(job):
                yield Backfill(job, passes(head, shadow, left))
                left.count(job)
                free = view.free
            elif curious:
                yield Keep(job, delays(head, shadow, now + job.estimate, left))

    def _deep(self, view: View, queue: list[Job]) -> Iterator[Decision]:
        plan, heads = view.plan.copy(), 0
        for place, job in enumerate(queue, 1):
            at = plan.find(job, view.now)
            on = plan.hold(job, at, at + job.estimate)
            if at == view.now:
                yield Backfill(job, Planned(), on)
            elif heads < self.depth:
                heads += 1
                yield Reserve(job, at, EarliestHole(view.free))
                if heads == self.depth:
                    queue[place:] = in_tail(queue[place:], self.tail)
            else:
                if view.curious:
                    yield Keep(job, PlannedLater(at, view.free) if view.fits(job) else no_room(view, job))
                plan.let_go(job, at, at + job.estimate)
