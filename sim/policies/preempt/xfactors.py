"""Expansion factors (xfactors) of jobs, the times at which these reach a value, and which jobs are too wide to be
suspended.
"""

from __future__ import annotations

from sim.machine.moment import MOMENT, is_by, ratio
from sim.workload.model import Job

EARLY = 1 - 1e-12
"""Factor a little below 1 by which times are multiplied, so that rounding makes none too late."""


def expansion(idle: float, estimate: float) -> float:
    return ratio(idle + estimate, estimate)


def reaches(xfactor: float, least: float, estimate: float) -> bool:
    """Return True if the expansion factor is at least `least`, except for rounding errors."""
    return is_by(least * estimate, xfactor * estimate)


def payable_from(since: float, least: float, estimate: float) -> float:
    """Return the time at which an idle job's xfactor reaches `least`, or a little before.

    `since` is the submit time plus the time that the job has run.
    """
    return EARLY * (since + least * estimate) - estimate - 2 * MOMENT


def is_too_wide(width: int, procs: int) -> bool:
    return width > 2 * procs


def widest(jobs: list[Job]) -> int:
    """Return the most processors that one of the jobs has; 0 if there are none."""
    return max([job.procs for job in jobs], default=0)
