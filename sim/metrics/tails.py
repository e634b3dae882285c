"""Distributions that papers draw: how late reservations start, and guaranteed over actual waits."""

from __future__ import annotations

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats


def reservation_delays(schedule: Schedule) -> Floats:
    """Return by how many seconds each job with a requested start began later than requested; 0 if in time."""
    asked = schedule.workload.reserve
    counts = ~np.isnan(asked) & ~np.isnan(schedule.start)
    return np.maximum(schedule.start[counts] - asked[counts], 0.0)


def guarantee_ratios(schedule: Schedule) -> Floats:
    """Return the guaranteed wait over the actual wait, for jobs that had a promised start and had to wait."""
    due = schedule.workload.due
    promised, waited = schedule.promised - due, schedule.start - due
    counts = ~np.isnan(promised) & (waited > 0)
    return promised[counts] / waited[counts]
