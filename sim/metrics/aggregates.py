"""Metrics of a whole schedule: statistics of finished jobs, and counts and use of the machine by all jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from sim.engine.schedule import Schedule
from sim.history.node_use import CoreStays, Waits, barred, uses_at
from sim.machine.moment import MOMENT
from sim.metrics.catalogue import METRICS, SPREADS
from sim.metrics.finished_jobs import FinishedJobs
from sim.support.errors import ParameterError
from sim.workload.model import Floats, Ints
from sim.workload.outages import capacity
from sim.workload.shape import BARS, OPEN

SMALLEST = 1e-9
"""Smallest overhead that counts, as a share of all processor time; a smaller one is a rounding error."""
Value = float | int | None
"""Value of a metric; None if it is undefined, such as the mean of no jobs"""


def aggregates(source: Schedule | FinishedJobs) -> dict[str, Value]:
    """Return all metrics in METRICS by name."""
    jobs = FinishedJobs.of(source)
    schedule, workload = jobs.schedule, jobs.workload
    values = statistics(jobs) | _machine(schedule) | _counts(schedule) | _recorded(jobs)
    values |= {"fairness_users": jain(jobs, workload.user), "fairness_groups": jain(jobs, workload.group)}
    values |= _reservations(schedule) | {"mean_lead": _mean(jobs.lead[jobs.lead > 0])}
    return {entry.name: values[entry.name] for entry in METRICS}


def statistics(jobs: FinishedJobs) -> dict[str, Value]:
    """Return the metrics that can be computed for any set of finished jobs, by name."""
    values: dict[str, Value] = {"jobs": len(jobs)}
    for name in SPREADS:
        values |= _values_of_spread(name, getattr(jobs, name))
    values["mean_bounded_slowdown_z"] = _mean(jobs.bounded_slowdown_z)
    values["mean_width_weighted_slowdown"] = _mean(jobs.width_weighted_slowdown)
    delay = np.maximum(jobs.idle - jobs.lead, 0).sum()  # as a wait: none where it ran before it was due
    values["aggregate_slowdown"] = 1 + float(delay / jobs.run.sum()) if len(jobs) else None
    values["total_wait_hours"] = float(jobs.wait.sum()) / 3600
    return values


def jain(jobs: FinishedJobs, parties: Ints) -> float | None:
    """Return Jain's index over the mean bounded slowdowns of `parties` (each job's, negative: unknown), or None."""
    party = jobs.column(parties)
    known = party >= 0
    _, index = np.unique(party[known], return_inverse=True)
    if not len(index) or not index.max():
        return None
    means = np.bincount(index, jobs.bounded_slowdown[known]) / np.bincount(index)
    return float(means.sum() ** 2 / (len(means) * (means**2).sum()))


def ratio(s1: Value, sm: Value) -> float | None:
    """Return the ratio R of Lawson & Smirni: above 0 if the slowdown `sm` is better than `s1`, None if unknown."""
    if s1 is None or sm is None:
        return None
    return (s1 - sm) / min(s1, sm)


def span(schedule: Schedule) -> tuple[float, float]:
    """Return (first submission, last end or, if the run was cut short and it is later, last step)."""
    ended = schedule.end[~np.isnan(schedule.end)]
    begin = float(schedule.workload.submit.min()) if len(schedule.end) else 0.0
    finish = float(ended.max()) if len(ended) else begin
    if len(ended) + len(schedule.dropped) < len(schedule.end) and len(schedule.curves.time):
        finish = max(finish, float(schedule.curves.time[-1]))
    return begin, finish


def _values_of_spread(name: str, values: Floats) -> dict[str, Value]:
    if not len(values):
        return dict.fromkeys((f"mean_{name}", f"median_{name}", f"max_{name}", f"std_{name}"))
    return {
        f"mean_{name}": float(values.mean()),
        f"median_{name}": float(np.median(values)),
        f"max_{name}": float(values.max()),
        f"std_{name}": float(values.std()),
    }


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _machine(schedule: Schedule) -> dict[str, Value]:
    """Return the machine's metrics by name (Zhang et al., equations 1 to 3); overhead is without progress."""
    begin, finish = span(schedule)
    available = capacity(schedule.outages, schedule.workload.procs, begin, finish)
    values: dict[str, Value] = {"makespan": finish - begin}
    names = ("utilization", "loss_of_capacity", "overhead", "loss_with_overhead")
    if available <= 0:
        return values | dict.fromkeys(names)
    work = _work(schedule)
    values["utilization"] = work / available
    if not len(schedule.curves.time):
        return values | dict.fromkeys(names[1:])
    line, ends = schedule.curves, np.array([begin, finish])
    lost = float(np.diff(area(*schedule.lost, ends))[0])
    busy = float(np.diff(area(line.time, schedule.there - line.free, ends))[0])
    overhead = busy - work if busy - work > SMALLEST * available else 0.0
    values["loss_of_capacity"] = lost / available
    values["overhead"] = overhead / available
    values["loss_with_overhead"] = (lost + overhead) / available
    return values


def _work(schedule: Schedule) -> float:
    """Return the processor-seconds in which jobs made progress; the progress of unfinished jobs counts, too."""
    progress = np.where(np.isnan(schedule.end), np.nan_to_num(schedule.ran), schedule.workload.runtime)
    return float((schedule.workload.width * progress).sum())


def _counts(schedule: Schedule) -> dict[str, Value]:
    ended = ~np.isnan(schedule.end)
    return {
        "unfinished": int((~ended).sum()),
        "backfilled": int(schedule.backfilled.sum()),
        "killed": int((schedule.workload.killed & ended).sum()),
        "preemptions": int(schedule.preemptions.sum()),
        "migrations": int(schedule.migrations.sum()),
        "interruptions": int(schedule.interruptions.sum()),
        "speculative_kills": schedule.speculative_kills,
        "borrowed": schedule.borrowed,
        "migration_cost_hours": schedule.stalled / 3600,
    }


def _recorded(jobs: FinishedJobs) -> dict[str, Value]:
    known = ~np.isnan(jobs.recorded_wait)
    waited = jobs.column(jobs.schedule.start) - jobs.submit  # a trace does not say which start was asked for
    return {
        "mean_recorded_wait": _mean(jobs.recorded_wait[known]),
        "later_than_recorded": int((waited[known] > jobs.recorded_wait[known] + MOMENT).sum()),
    }


def _reservations(schedule: Schedule) -> dict[str, Value]:
    delays, ratios = reservation_delays(schedule), guarantee_ratios(schedule)
    return {
        "reservations": len(delays),
        "missed_reservations": int((delays > MOMENT).sum()),
        "mean_reservation_delay": _mean(delays),
        "max_reservation_delay": float(delays.max()) if len(delays) else None,
        "guarantee_ratio_median": float(np.median(ratios)) if len(ratios) else None,
    }


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


# Fragmentation.


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
    stays, waits = CoreStays(ranks, start, ended, schedule.cores), Waits(ranks, schedule.workload.due, start)
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


# Averages over time.


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
