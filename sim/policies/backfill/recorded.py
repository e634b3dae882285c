"""Replay of the schedule that the trace recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Decision, Keep, Start, Wake
from sim.decisions.reasons import AsRecorded
from sim.decisions.reasons_to_wait import NotYet
from sim.policies.backfill.room import no_room
from sim.policies.orders import ByRecord, Order
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.policies.view import View


@policy("recorded", "the trace itself")
@dataclass(frozen=True)
class Recorded(Policy):
    """Each job starts at its recorded start, or as soon after as it fits; on nodes where it ran, if they have room.

    Jobs that are due are in order of recorded start, by rank among equals, and smaller ones may pass a job that does
    not fit. Jobs without a recorded start begin when they fit, after the due ones.
    """

    plans = "nobody"
    lets_pass = False

    def line_order(self) -> Order:
        return ByRecord()

    def decide(self, view: View) -> Iterator[Decision]:
        order = self.line_order()
        for job in sorted(view.queue, key=lambda job: order.key(job, view.now)):
            recorded = job.recorded_start
            if recorded is not None and recorded > view.now:
                yield Wake(recorded)
                if view.curious:
                    yield Keep(job, NotYet(recorded))
            elif view.fits(job):
                late = 0 if recorded is None else view.now - recorded
                yield Start(job, AsRecorded(recorded, late), view.where_it_ran(job))
            elif view.curious:
                yield Keep(job, no_room(view, job))
