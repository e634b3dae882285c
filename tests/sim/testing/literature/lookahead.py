"""Backfilling with lookahead (Shmueli & Feitelson 2005): of all sets of jobs that fit, the one that uses most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Backfill, Decision, Reserve, Start
from sim.decisions.reasons import Fits, InOrder, WhenFree
from sim.policies.parameters import parameter
from sim.policies.view import View
from sim.workload.model import Job


@dataclass(frozen=True)
class Lookahead(Policy):
    """The head has a reservation; those that end before it are packed so that fewest processors stay free."""

    deep: int = parameter(50, "how many jobs behind the head are looked at", low=1)
    plans = "the heads"

    def decide(self, view: View) -> Iterator[Decision]:
        queue = view.queue
        while queue and queue[0].procs <= view.free:
            yield Start(queue.pop(0), InOrder(view.free))
        if not queue:
            return
        shadow, extra = view.shadow(queue[0])
        yield Reserve(queue[0], shadow, WhenFree(view.free, queue[0].procs + extra))
        ahead = [job for job in queue[1 : self.deep + 1] if view.now + job.estimate <= shadow]
        for job in packed(ahead, view.free):
            yield Backfill(job, Fits(view.free))


def packed(jobs: Sequence[Job], free: int) -> list[Job]:
    """A knapsack: of the sets that use most of what is free, the one found first."""
    best: dict[int, list[Job]] = {0: []}
    for job in jobs:
        for used, chosen in sorted(best.items(), reverse=True):
            if used + job.procs <= free:
                best.setdefault(used + job.procs, [*chosen, job])
    return best[max(best)]
