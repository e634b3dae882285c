"""Granted reservations: starts that users requested, which stay when the policy or the machine changes."""

from __future__ import annotations

from heapq import heappush
from math import inf

from sim.decisions.decisions import Reserve
from sim.decisions.reasons import AskedFor
from sim.engine.moment import Moment
from sim.machine.moment import MOMENT
from sim.machine.plan import by_number


def keep_granted(moment: Moment) -> None:
    """Keep granted reservations at their times. One that no longer fits is moved to the earliest later time at which it
    fits.
    """
    if moment._granted:
        plan = by_number(moment._running_plan())
        for at, rank in sorted((at, rank) for rank, at in moment._granted.items()):
            job = moment._jobs[rank]
            later = plan.place(job.procs, job.estimate, max(at, moment._time))
            if later > at + MOMENT and job.reserve is not None:
                moment._granted[rank] = moment._reserved[rank] = later
                heappush(moment._timers, (later, rank, inf))
                moment._log(Reserve(job, later, AskedFor(job.reserve)))
    moment._kept_plan = None
