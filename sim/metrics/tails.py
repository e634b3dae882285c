"""Distributions that the papers draw: delays of reservations, and guaranteed over actual waits."""

from __future__ import annotations

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats


def reservation_delays(schedule: Schedule) -> Floats:
    """Return the seconds by which each job with a reservation started later than requested, 0 if in time."""
    asked = schedule.workload.reserve
    counts = ~np.isnan(asked) & ~np.isnan(schedule.start)
    return np.maximum(schedule.start[counts] - asked[counts], 0.0)


def guarantee_ratios(schedule: Schedule) -> Floats:
    """Return the ratio of guaranteed to actual wait, for jobs that had a promise and had to wait."""
    due = schedule.workload.due
    promised, waited = schedule.promised - due, schedule.start - due
    counts = ~np.isnan(promised) & (waited > 0)
    return promised[counts] / waited[counts]
