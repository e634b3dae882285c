"""Replay of the schedule that the trace recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons import AsRecorded
from sim.decisions.reasons_to_wait import NotYet
from sim.machine.moment import is_by
from sim.policies.orders import ByRecord, Order
from sim.policies.policy import Policy
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


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

    def decide(self, now: Moment) -> None:
        for job in now.queued(self.line_order().key):
            recorded = job.recorded_start
            if recorded is not None and not is_by(recorded, now.time):
                now.wake_once(recorded)
                now.keep(job, NotYet(recorded))
            elif now.fits(job):
                late = 0.0 if recorded is None or is_by(now.time, recorded) else now.time - recorded
                now.begin(job, AsRecorded(recorded, late), now.where_it_ran(job))
            else:
                now.keep(job)
