"""EASY-SJBF (Tsafrir, Etsion & Feitelson 2007): the head as in EASY, but the shortest job is backfilled first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start
from sim.decisions.reasons import EndsBefore, FitsExtra, InOrder, WhenFree
from sim.decisions.reasons_to_wait import TooFewFree
from sim.policies.view import View


@dataclass(frozen=True)
class ShortestBackfilled(Policy):
    """The queue is first come, first served; who may pass its head does so in the order of the estimates."""

    plans = "the heads"

    def decide(self, view: View) -> Iterator[Decision]:
        queue = view.queue
        while queue and queue[0].procs <= view.free:
            yield Start(queue.pop(0), InOrder(view.free))
        if not queue:
            return
        head = queue.pop(0)
        shadow, extra = view.shadow(head)
        yield Reserve(head, shadow, WhenFree(view.free, head.procs + extra))
        for job in sorted(queue, key=lambda job: (job.estimate, job.rank)):
            if job.procs > view.free:
                if view.curious:
                    yield Keep(job, TooFewFree(view.free))
            elif view.now + job.estimate <= shadow:
                yield Backfill(job, EndsBefore(head, shadow, view.now + job.estimate))
            elif job.procs <= extra:
                yield Backfill(job, FitsExtra(head, shadow, extra))
                extra -= job.procs
