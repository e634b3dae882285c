"""Fragmentation: share of a machine's cores that are free, but on nodes that no waiting job can use."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from sim.engine.schedule import Schedule
from sim.history.node_use import Stays, Waits, barred, uses_at
from sim.workload.model import Floats
from sim.workload.shape import BARS, OPEN

MOST_MOMENTS = 4000
"""Most points in time at which fragmentation is computed, equally spaced in a run with more steps."""


def fragmentation(schedule: Schedule, begin: float = -inf, finish: float = inf) -> Mapping[str, float]:
    """Return the shares of processor time that were free but useless to all waiting jobs: total, and by cause. The
    mapping is empty for equal processors. A node is useful if it has room for a task, or for a job's share.
    """
    time, shape = schedule.curves.time, schedule.workload.shape
    if shape is None or len(time) < 2:
        return {}
    time = np.unique(np.clip(time, max(begin, time[0]), min(finish, time[-1])))
    if len(time) < 2:
        return {}
    moments = _moments(time)
    start, ended = (np.nan_to_num(column, nan=inf) for column in (schedule.start, schedule.end))
    ranks = np.arange(len(start))
    stays, waits = Stays(ranks, start, ended, schedule.cores), Waits(ranks, schedule.workload.due, start)
    lengths = np.diff(np.append(moments, time[-1]))
    lost = np.zeros(len(BARS))
    for use, length in zip(uses_at(shape, moments.tolist(), stays, waits), lengths.tolist(), strict=True):
        cores = np.bincount(barred(shape, use) - OPEN, use.free[:, 0], 1 + len(BARS))  # `OPEN` is the first
        lost += length * cores[1:]
    shares = lost / (shape.cores * (time[-1] - time[0]))
    causes = zip(BARS, shares.tolist(), strict=True)
    return {"fragmentation": float(shares.sum()), **{f"fragmentation_{name}": share for name, share in causes}}


def _moments(time: Floats) -> Floats:
    steps = np.unique(time[:-1])
    return steps if len(steps) <= MOST_MOMENTS else np.linspace(time[0], time[-1], MOST_MOMENTS, endpoint=False)
