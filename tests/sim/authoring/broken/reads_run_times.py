from __future__ import annotations

import sys
from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import Fits
from sim.workload.job import Job
from sim.workload.model import Workload


def run_time(job: Job) -> float:
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        own = getattr(frame.f_locals.get("self"), "workload", None)
        for found in (own, frame.f_locals.get("other"), frame.f_locals.get("workload")):
            if isinstance(found, Workload):
                return found.runtimes[job.rank]
    return job.estimate


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that starts the shortest job first, by the actual run times, which it takes from its callers."""

    def decide(self, now: Moment) -> None:
        for job in sorted(now.queue, key=run_time):
            if now.fits(job):
                now.start(job, Fits(now.free))
