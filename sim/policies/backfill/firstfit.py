"""First fit, first served (W section 1). With order=wide it is W's best fit, with order=narrow worst fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Backfill, Decision, Keep, Start
from sim.decisions.reasons import Fits
from sim.policies.backfill.room import no_room
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View


@policy("firstfit", "W section 1")
@dataclass(frozen=True)
class FirstFit(Ordered):
    """Go once through the whole queue and start all that fit: no reservations, so wide jobs may starve."""

    plans = "nobody"

    def decide(self, view: View) -> Iterator[Decision]:
        start: type[Start | Backfill] = Start
        free, curious = view.free, view.curious
        for job in view.queue:
            if job.procs <= free and view.fits(job):
                yield start(job, Fits(free))
                free = view.free
            else:
                start = Backfill
                if curious:
                    yield Keep(job, no_room(view, job))
