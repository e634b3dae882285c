"""Conservative backfilling: every job has a promised start (Kettimuthu section 2.1.1; Zhang et al. sections 2
and 6).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal

from sim.decisions.decisions import Backfill, Decision, Reserve, Start
from sim.decisions.reasons import Compressed, Due, EarliestHole
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job

_DUE = Due()


@policy(
    "conservative",
    "K section 2.1.1, ZKP sections 2 and 6",
    bf="conservative:compress=queue",
    lsbf="conservative:compress=queue,order=sjf",
    rbf="conservative:compress=queue,order=random",
    rlbf="conservative:compress=queue,order=random-length",
)
@dataclass(frozen=True)
class Conservative(Ordered):
    """On arrival each job gets the earliest start that delays no other job; promised starts never move later.

    When a job ended before its expected end, the plan is compressed: the reservations are released one by one and
    placed again, each at its earliest. Jobs that arrive at one instant are placed by rank, after that. Ends less than a
    microsecond apart count as one in the plan, so a job that is due then starts when there is room.
    """

    compress: Literal["start", "queue", "none"] = parameter(
        "start",
        "order in which reservations move earlier after an early end: by start (K), by queue order "
        "(ZKP), or not at all",
        choices=("start", "queue", "none"),
    )
    keeps_reservations = True

    def promises(self) -> bool:
        return True

    def decide(self, view: View) -> Iterator[Decision]:
        if view.ended_early:
            jobs = self._compression_order(view)
            for job, was, at in view.plan.compression(view.now, jobs, view.reserved):
                yield Reserve(job, at, Compressed(was))
        for job in view.arrived:
            at = view.plan.find(job, view.now)
            yield Reserve(job, at, EarliestHole(view.free))
        start: type[Start | Backfill] = Start
        now, reserved = view.now, view.reserved
        if min(reserved.values(), default=inf) > now:
            return
        for job in view.queue:
            if reserved[job.rank] <= now and view.has_room(job):
                yield start(job, _DUE)
            else:
                start = Backfill

    def _compression_order(self, view: View) -> list[Job]:
        if self.compress == "start":
            reserved = view.reserved
            return [view.job(rank) for _, rank in sorted(zip(reserved.values(), reserved, strict=True))]
        if self.compress == "queue":
            return [job for job in view.queue if job.rank in view.reserved]
        return []
