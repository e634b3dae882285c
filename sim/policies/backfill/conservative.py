"""Conservative backfilling: each job has a promised start (Kettimuthu, section 2.1.1; Zotkin et al., section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sim.decisions.reasons import Due, EarliestHole
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


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
    placed again, each at its earliest. K compresses at every end, but one on time frees nothing that was not planned.
    Jobs that arrive at one instant are placed by rank, after that. Ends less than a microsecond apart count as one in
    the plan, so a job that is due then starts when there is room.
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

    def decide(self, now: Moment) -> None:
        if now.ended_early:
            now.compress(self.compress)
        for job in now.arrivals():
            now.reserve(job, now.earliest(job), EarliestHole(now.free))
        for job in now.due():
            if now.has_room(job):
                now.start(job, Due())
