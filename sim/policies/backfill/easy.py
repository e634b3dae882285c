"""EASY, or aggressive, backfilling (Lifka 1995; Zotkin et al., section 2; Kettimuthu, section 2.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons import EarliestHole, EndsBefore, FitsExtra, Planned, WhenFree
from sim.decisions.reasons_to_wait import PlannedLater, WouldDelay
from sim.machine.moment import is_by
from sim.policies.backfill.tails import TAILS
from sim.policies.orders import Fcfs
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("easy", "Lifka 1995, ZKP section 2, K section 2.1.2")
@dataclass(frozen=True)
class Easy(Ordered):
    """Jobs may pass the head of the queue, the first that does not fit, if that does not delay it.

    The shadow time is the first at which enough processors are free for the head, if running jobs end as estimated; the
    extra processors are those left over then. A job behind the head that fits starts if it ends by the shadow time, or
    if it needs no more than the extra processors, which then become fewer. ZKP search again from the front after every
    start. One search gives the same, because free and extra processors only become fewer.

    With depth=k the first k jobs that cannot start get reservations, each as early as possible in queue order, and a
    job behind them may delay none of these. With tail=sjf the jobs behind are tried shortest first (Tsafrir, Etsion &
    Feitelson's SJBF). With tail=latest the latest arrival is first (the simulator pyss's reverse). Ties are in queue
    order. pyss runs a pass after every event of an instant, here they share one pass.
    """

    depth: int = parameter(1, "how many waiting jobs get a reservation", low=1)
    tail: str = parameter("queue", "in which order those behind them are tried", choices=TAILS)

    plans = "the heads"

    def promises(self) -> bool:
        """Return True for a queue in order of arrival and depth=1: then the head stays the head, and its reservation
        never moves later. With more depth it may: the reservations behind the head are planned again at each pass.
        """
        return self.order == Fcfs() and self.depth == 1

    def decide(self, now: Moment) -> None:
        head = now.start_in_order()
        if head is None:
            return
        if self.depth > 1:
            self._deep(now)
            return
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))
        for job in now.in_tail(now.easy_candidates(head, shadow, extra), self.tail):
            if not now.fits(job):
                now.keep(job)
                continue
            ends = now.time + job.estimate
            if is_by(ends, shadow):
                now.start(job, EndsBefore(head, shadow, ends))
            elif now.spares(job, head, extra):
                now.start(job, FitsExtra(head, shadow, extra))
                extra -= job.procs
            else:
                now.keep(job, WouldDelay(head, shadow, ends, extra))

    def _deep(self, now: Moment) -> None:
        """Start jobs in order, or reserve their earliest start in a plan, until `depth` of them have reservations. Then
        start the jobs behind these that fit into the plan from now on.

        With depth=1 the starts on equal processors would be those of `decide`, which needs no plan and is faster.
        """
        plan, heads = now.draft(), 0
        for last in now.queued():
            at = plan.put(last, now.time)
            if at == now.time:
                now.start(last, Planned(), plan.seats_of(last))
                continue
            now.reserve(last, at, EarliestHole(now.free))
            heads += 1
            if heads == self.depth:
                break
        else:
            return  # no job is behind the reservations
        for job in now.in_tail(now.behind(last), self.tail):
            if not now.fits(job):
                now.keep(job)
            elif plan.admits(job, now.time, job.estimate):
                plan.hold(job, now.time, now.time + job.estimate)
                now.start(job, Planned(), plan.seats_of(job))
            else:
                now.keep(job, PlannedLater(plan.find(job, now.time), now.free))
