"""Alternatives for one job: its wait, and the waits of all others, under each of several policies."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sim.engine.schedule import Schedule
from sim.workload.model import Floats, Job
from sim.workload.pairing import paired

ABOUT = 1.0
"""Seconds by which two waits must at least differ to count as different."""
MOST_BLOCKERS = 8
"""Largest number of jobs without each of which a run is tried."""
WITHOUT = "without "
"""Beginning of what a run without a job is called, as in `without J17`"""


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
    """Return the policies by the job's wait, the shortest first; prices are relative to the first schedule.

    Runs without one of the first schedule's jobs come last, by the same order.
    """
    tried = [_outcome(schedule, schedules[0], rank) for schedule in schedules]

    def place(found: Tried) -> tuple[bool, float, float]:
        wait = inf if found.wait is None else found.wait
        return found.policy.startswith(WITHOUT), wait, max(found.price.change, 0.0)

    return sorted(tried, key=place)


def _waits(schedule: Schedule) -> Floats:
    waited = schedule.wait
    return np.where(np.isnan(waited), inf, waited)


def _outcome(schedule: Schedule, like: Schedule, rank: int) -> Tried:
    first, waits, start = _waits(like), _waits(schedule), schedule.start
    others = np.arange(len(first)) != rank
    if (pairing := paired(like.workload, schedule.workload)) is not None:
        waits, start, others = pairing.on_first(waits), pairing.on_first(start), others & (pairing.there >= 0)
    starts = bool(waits[rank] < inf)
    known = others & (waits < inf) & (first < inf)
    started = others & (waits < inf)
    more = np.zeros(len(waits))
    np.subtract(waits, first, out=more, where=others & (waits != first))
    worst = int(np.argmax(more))
    pays = bool(more[worst] > ABOUT)
    price = Price(
        mean_wait=float(waits[started].mean()) if started.any() else 0.0,
        change=float(more[known].mean()) if known.any() else 0.0,
        longer=int((more > ABOUT).sum()),
        shorter=int((more < -ABOUT).sum()),
        worst=like.workload.jobs[worst] if pays else None,
        worst_by=None if more[worst] == inf else float(more[worst]) if pays else 0.0,
    )
    return Tried(schedule.policy, float(start[rank]) if starts else None, float(waits[rank]) if starts else None, price)


def blockers(schedule: Schedule, rank: int) -> list[Job]:
    """Return the jobs that held processors while the job waited, those with the most processor-seconds first."""
    workload, start, end = schedule.workload, schedule.start, schedule.end
    begin, until = workload.due[rank], np.nan_to_num(start[rank], nan=inf)
    last = np.nan_to_num(end, nan=np.nanmax(end, initial=begin))
    held = np.maximum(np.minimum(last, until) - np.maximum(start, begin), 0) * workload.width
    held = np.where(np.isnan(held) | (np.arange(len(held)) == rank), 0, held)
    order = np.argsort(-held, kind="stable")[:MOST_BLOCKERS].tolist()
    return [workload.jobs[other] for other in order if held[other] > 0 and ";" not in workload.ids[other]]


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
