"""Use of the machine and the queue over time, as averages over parts of equal length (buckets)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.engine.schedule import Schedule
from sim.support.errors import ParameterError
from sim.workload.model import Floats


@dataclass(frozen=True)
class OverTime:
    """Averages over parts of the time; entry i is for `edges[i]` to `edges[i + 1]` (in seconds)."""

    edges: list[float]
    utilization: list[float]
    """Share of the available processors that jobs hold, including overheads."""
    queue: list[float]
    wanted: list[float]
    """Average number of processors that the waiting jobs request in total."""
    loss_of_capacity: list[float]
    """Share of the available processors that are free while a job waits to start or to resume."""


def over_time(schedule: Schedule, buckets: int, begin: float | None = None, finish: float | None = None) -> OverTime:
    """Return averages over `buckets` equal parts from `begin` to `finish`, by default of the whole run."""
    if buckets < 1:
        raise ParameterError(f"time is divided into at least 1 bucket, got {buckets}")
    line, there = schedule.curves, schedule.there
    if not len(line.time):
        return OverTime([], [], [], [], [])
    first = float(line.time[0]) if begin is None else begin
    last = float(line.time[-1]) if finish is None else finish
    if last <= first:
        return OverTime([], [], [], [], [])
    edges = np.linspace(first, last, buckets + 1)

    def average(values: NDArray[np.int64] | Floats, of: Floats | None = None, time: Floats = line.time) -> list[float]:
        sums = np.diff(area(time, values, edges))
        divisors = np.diff(edges) if of is None else np.where(of > 0, of, np.inf)
        means: list[float] = (sums / divisors).tolist()
        return means

    available = np.diff(area(line.time, there, edges))
    time, lost = schedule.lost

    return OverTime(
        edges.tolist(),
        average(there - line.free, available),
        average(line.waiting),
        average(line.wanted),
        average(lost, available, time),
    )


def area(time: Floats, values: NDArray[np.int64] | Floats, at: Floats) -> Floats:
    """Return the area under a step function until each time in `at`; 0 before its first time. It is `values[i]` from
    `time[i]` until `time[i + 1]`; the last value has no end.

    >>> area(np.array([0.0, 10.0]), np.array([2, 5]), np.array([-5.0, 4.0, 12.0])).tolist()
    [0.0, 8.0, 30.0]
    """
    before = np.concatenate(([0.0], np.cumsum(values[:-1] * np.diff(time))))
    step = np.searchsorted(time, at, side="right") - 1
    known = np.maximum(step, 0)
    return np.where(step >= 0, before[known] + values[known] * (at - time[known]), 0.0)
