"""Alternatives for one job: its wait, and the waits of all others, under each of several policies."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats, Job

ABOUT = 1.0
"""Seconds by which two waits must at least differ to count as different."""


class Price(NamedTuple):
    """How the waits of all other jobs change under a policy, compared with the first policy."""

    mean_wait: float
    """Mean wait, in seconds, of those other jobs that start under this policy."""
    change: float
    """Change of their mean wait in seconds, above 0 if they wait longer, over jobs that start in both."""
    longer: int
    shorter: int
    """Number of them that wait less; `longer` counts the others. A job that never starts waits longest."""
    worst: Job | None
    """Job whose wait grows most under this policy, or None if no wait grows."""
    worst_by: float | None
    """Seconds by which the wait of `worst` grows; None if it never starts, 0 if `worst` is None."""


class Tried(NamedTuple):
    """Policy that was tried: the start of the job, and the price that the other jobs pay."""

    policy: str
    start: float | None
    wait: float | None
    price: Price


def ranked(schedules: Sequence[Schedule], rank: int) -> list[Tried]:
    """Return the policies by the job's wait, the shortest first; prices are relative to the first schedule."""
    first = _waits(schedules[0])
    tried = [_outcome(schedule, first, rank) for schedule in schedules]
    return sorted(tried, key=lambda found: (inf if found.wait is None else found.wait, max(found.price.change, 0.0)))


def _waits(schedule: Schedule) -> Floats:
    waited = schedule.wait
    return np.where(np.isnan(waited), inf, waited)


def _outcome(schedule: Schedule, first: Floats, rank: int) -> Tried:
    waits = _waits(schedule)
    others = np.arange(len(waits)) != rank
    start, known = others & (waits < inf), others & (waits < inf) & (first < inf)
    more = np.zeros(len(waits))
    np.subtract(waits, first, out=more, where=others & (waits != first))
    worst = int(np.argmax(more))
    pays = bool(more[worst] > ABOUT)
    price = Price(
        mean_wait=float(waits[start].mean()) if start.any() else 0.0,
        change=float(more[known].mean()) if known.any() else 0.0,
        longer=int((more > ABOUT).sum()),
        shorter=int((more < -ABOUT).sum()),
        worst=schedule.workload.jobs[worst] if pays else None,
        worst_by=None if more[worst] == inf else float(more[worst]) if pays else 0.0,
    )
    starts = waits[rank] < inf
    return Tried(
        schedule.policy, float(schedule.start[rank]) if starts else None, float(waits[rank]) if starts else None, price
    )


class Fitting(NamedTuple):
    """Period in which a job waited although enough processors were free for it."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def fitted(schedule: Schedule, rank: int) -> list[Fitting]:
    """Return the periods of the job's wait in which enough processors were free, even too short ones."""
    job, start = schedule.workload.jobs[rank], float(schedule.start[rank])
    times, free = schedule.curves.time, schedule.curves.free
    enough = free >= job.procs
    found: list[Fitting] = []
    for place in np.flatnonzero(enough & (times < start)).tolist():
        begin = max(float(times[place]), job.submit)
        end = min(float(times[place + 1]) if place + 1 < len(times) else start, start)
        if end <= begin:
            continue
        if found and found[-1].end == begin:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(Fitting(begin, end))
    return found
