"""Expansion factors (xfactors) of jobs, the times at which these reach a value, and which jobs are too
wide to be suspended.

This file is also a part of the compiled loop.
"""

from __future__ import annotations

from sim.machine.moment import MOMENT, whole

EARLY = 1 - 1e-12
"""Factor a little below 1 by which times are multiplied, so that rounding makes none too late."""


def expansion(idle: float, estimate: float) -> float:
    """Return the expansion factor, (wait + estimate) / estimate, of a job that was idle for `idle` seconds."""
    return (whole(idle) + estimate) / estimate


def payable_from(since: float, least: float, estimate: float) -> float:
    """Return the time at which an idle job's xfactor reaches `least`, or a little before.

    `since` is the submit time plus the time that the job has run.
    """
    return EARLY * (since + least * estimate) - estimate - MOMENT


def is_too_wide(width: int, procs: int) -> bool:
    """Return True if a running job on `width` processors is too wide to be suspended by a job on `procs` processors:
    more than twice as wide.
    """
    return width > 2 * procs
