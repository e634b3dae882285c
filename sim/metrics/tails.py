"""Distributions that the papers draw: delays of reservations (LS figure 11), guarantees (ZKP figure 16)."""

from __future__ import annotations

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats


def reservation_delays(schedule: Schedule) -> Floats:
    """Return how much later than requested each job with a reservation started, 0 for those in time."""
    asked = schedule.workload.reserve
    counts = ~np.isnan(asked) & ~np.isnan(schedule.start)
    return np.maximum(schedule.start[counts] - asked[counts], 0.0)


def guarantee_ratios(schedule: Schedule) -> Floats:
    """Return the first guaranteed wait over the actual one, of the jobs that had a promise and had to wait."""
    due = schedule.workload.due
    promised, waited = schedule.promised - due, schedule.start - due
    counts = ~np.isnan(promised) & (waited > 0)
    return promised[counts] / waited[counts]
