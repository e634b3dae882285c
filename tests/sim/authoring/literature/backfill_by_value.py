"""EASY that backfills the most valuable jobs first: those with the most processor-seconds before the head starts."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import InOrder, WhenFree
from sim.decisions.sentences import Time
from sim.support.formatting import Clock
from sim.workload.model import Job


@dataclass(frozen=True)
class WorthMost:
    """A reason with a sentence of its own; its fields are shown as numbers."""

    value: float
    head_starts: Time

    def sentence(self, job: Job, at: Clock) -> str:
        return f"of all that fit before {at(self.head_starts)} it is worth most, {self.value:,.0f} processor-seconds"


@dataclass(frozen=True)
class BackfillByValue(Policy):
    """The head of the queue has a reservation; of the others that do not delay it, the largest area starts first."""

    plans = "the heads"

    def decide(self, now: Moment) -> None:
        queue = now.queue
        while queue and queue[0].procs <= now.free:
            now.start(queue.pop(0), InOrder(now.free))
        if not queue:
            return
        head, *others = queue
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, head.procs + extra))
        for job in sorted(others, key=lambda job: (-job.procs * job.estimate, job.rank)):
            ends_before = now.time + job.estimate <= shadow
            if job.procs <= now.free and (ends_before or job.procs <= extra):
                extra -= 0 if ends_before else job.procs
                now.backfill(job, WorthMost(job.procs * job.estimate, shadow))
