"""Why there is no room for a job now: too few processors are free, or there is too little time."""

from __future__ import annotations

from sim.decisions.reasons_to_wait import MachineGoesDown, TooFewFree
from sim.policies.view import View
from sim.workload.model import Job


def no_room(view: View, job: Job) -> TooFewFree | MachineGoesDown:
    """What the job lacks that does not fit."""
    if job.procs > view.free:
        return TooFewFree(view.free)
    return MachineGoesDown(view.closes, view.now + view.remaining_estimate(job.rank))
