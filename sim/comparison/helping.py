"""What would have helped a job: how long it waits under each of several policies, and what the others pay for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats, Job

ABOUT = 1.0
"""Seconds by which a wait must differ to be another."""


class Price(NamedTuple):
    """How the other jobs fare, beside the first of the policies."""

    mean_wait: float
    change: float
    """Of their mean wait, in seconds; above 0 they wait longer."""
    longer: int
    shorter: int
    """How many of them wait longer, and shorter."""
    worst: Job | None
    worst_by: float
    """Who waits longer by most, and by how many seconds; None: nobody does."""


class Tried(NamedTuple):
    """What a policy does to the job, and to the others."""

    policy: str
    start: float
    wait: float
    price: Price


def ranked(schedules: Sequence[Schedule], rank: int) -> list[Tried]:
    """The policies of these schedules by the wait of that job, the shortest first; all are set beside the first."""
    first = _waits(schedules[0])
    tried = [_tried(schedule, first, rank) for schedule in schedules]
    return sorted(tried, key=lambda found: (found.wait, max(found.price.change, 0.0)))


def _waits(schedule: Schedule) -> Floats:
    waited: Floats = np.maximum(schedule.start - schedule.workload.due, 0.0)
    return waited


def _tried(schedule: Schedule, first: Floats, rank: int) -> Tried:
    waits = _waits(schedule)
    others = np.arange(len(waits)) != rank
    more = np.where(others, waits - first, 0.0)
    worst = int(np.argmax(more)) if len(more) else 0
    pays = bool(len(more) and more[worst] > ABOUT)
    price = Price(
        mean_wait=float(waits[others].mean()) if others.any() else 0.0,
        change=float(more[others].mean()) if others.any() else 0.0,
        longer=int((more > ABOUT).sum()),
        shorter=int((more < -ABOUT).sum()),
        worst=schedule.workload.jobs[worst] if pays else None,
        worst_by=float(more[worst]) if pays else 0.0,
    )
    return Tried(schedule.policy, float(schedule.start[rank]), float(waits[rank]), price)


class Fitting(NamedTuple):
    """From one moment to another enough processors were free for a job that waited."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def fitted(schedule: Schedule, rank: int) -> list[Fitting]:
    """When enough was free for the job while it waited, one after another; it might have run on in the last."""
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
