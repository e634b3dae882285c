from __future__ import annotations

import gc
from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import Fits
from sim.workload.job import Job
from sim.workload.model import Workload


def run_time(job: Job) -> float:
    known = (each for each in gc.get_objects() if isinstance(each, Workload) and job.rank < len(each.jobs))
    return next(each.runtimes[job.rank] for each in known if each.jobs[job.rank] is job)


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that starts the shortest job first, by the actual run times, which it takes from the engine."""

    def decide(self, now: Moment) -> None:
        for job in sorted(now.queue, key=run_time):
            if now.fits(job):
                now.start(job, Fits(now.free))
