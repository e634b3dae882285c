"""First come, first served, strictly (every paper's baseline; ZKP section 5 sorts it)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import InOrder
from sim.policies.backfill.room import no_room
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View


@policy("fcfs", "ZKP tables 2 and 6")
@dataclass(frozen=True)
class FirstComeFirstServed(Ordered):
    """Start from the front of the queue while it fits; no job passes the first that lacks processors."""

    plans = "nobody"
    lets_pass = False

    def decide(self, view: View) -> Iterator[Decision]:
        for job in view.queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
                return
            yield Start(job, InOrder(view.free))
