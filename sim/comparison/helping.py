"""What would have helped a job: how long it waits under each of several policies, and what the others pay for that."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats, Job

ABOUT = 1.0
"""Seconds by which a wait must differ to be another."""


class Price(NamedTuple):
    """How the other jobs fare, beside the first of the policies."""

    mean_wait: float
    """Of those that start at all"""
    change: float
    """Of the mean wait of those that start under the first of the policies, too; above 0 they wait longer."""
    longer: int
    shorter: int
    """How many of them wait longer, and shorter; longest who never starts."""
    worst: Job | None
    """Who waits longer by most; None: nobody does."""
    worst_by: float | None
    """By how many seconds; None: it never starts."""


class Tried(NamedTuple):
    """What a policy does to the job, and to the others."""

    policy: str
    start: float | None
    """None: it never starts."""
    wait: float | None
    price: Price


def ranked(schedules: Sequence[Schedule], rank: int) -> list[Tried]:
    """The policies of these schedules by the wait of that job, the shortest first; all are set beside the first."""
    first = _waits(schedules[0])
    tried = [_tried(schedule, first, rank) for schedule in schedules]
    return sorted(tried, key=lambda found: (inf if found.wait is None else found.wait, max(found.price.change, 0.0)))


def _waits(schedule: Schedule) -> Floats:
    """Who never starts waits for ever."""
    waited = schedule.wait
    return np.where(np.isnan(waited), inf, waited)


def _tried(schedule: Schedule, first: Floats, rank: int) -> Tried:
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
        schedule.policy,
        float(schedule.start[rank]) if starts else None,
        float(waits[rank]) if starts else None,
        price,
    )


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
