"""Quantities whose distributions papers show: the delay of requested starts, and the ratio of guaranteed to actual
waits.
"""

from __future__ import annotations

import numpy as np

from sim.engine.schedule import Schedule
from sim.machine.moment import MOMENT
from sim.workload.model import Floats


def reservation_delays(schedule: Schedule) -> Floats:
    """Return the seconds by which each started job missed its requested start; 0 if it was in time."""
    asked = schedule.workload.reserve
    counts = ~np.isnan(asked) & ~np.isnan(schedule.start)
    return np.maximum(schedule.start[counts] - asked[counts], 0.0)


def guarantee_ratios(schedule: Schedule) -> Floats:
    """Return the ratio of guaranteed wait to actual wait, for each job that was promised a start and had to wait."""
    due = schedule.workload.due
    promised, waited = schedule.promised - due, schedule.start - due
    counts = ~np.isnan(promised) & (waited > MOMENT)
    return promised[counts] / waited[counts]
