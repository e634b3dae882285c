"""Comparison of two schedules of one trace: metrics, and the jobs that gain and lose.

The second schedule is compared with the first: a job *gains* if it ends earlier in the second. The ratio R (equation 3
of Lawson & Smirni) compares mean slowdowns and is above 0 if the second is better. Job by job, only jobs finished in
both are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.schedule import Schedule, drawn_again
from sim.metrics.aggregates import Value, aggregates, fragmentation, ratio
from sim.metrics.catalogue import FRAGMENTATION, METRICS, Metric
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import GroupRow, by_batch, by_category, by_class, by_priority
from sim.support.errors import ParameterError
from sim.support.notebook import Tabular, picture_of
from sim.support.optional_imports import pandas
from sim.workload.model import Floats, Job
from sim.workload.pairing import Pairing, paired

MOST = 5
"""Number of jobs that are named for the largest gains, and for the largest losses."""
ROWS = (
    "unfinished",
    "mean_wait",
    "max_wait",
    "mean_turnaround",
    "mean_slowdown",
    "mean_bounded_slowdown",
    "max_bounded_slowdown",
    "utilization",
    "loss_of_capacity",
    "overhead",
    "makespan",
    "backfilled",
    "preemptions",
    "migrations",
    "missed_reservations",
)
"""Names of the metrics that are compared. A metric that is 0 in both schedules is left out."""
SIZES = (0.0, 60.0, 600.0, 3600.0, 28800.0, 86400.0, inf)
"""Bounds in seconds of the classes of moves; a move equal to a bound belongs to the class below it."""


# Metrics


class Versus(NamedTuple):
    """Metric in two schedules; `better` is 0 if the first is better, 1 if the second, None if neither."""

    metric: Metric
    first: Value
    second: Value
    better: Literal[0, 1] | None

    @property
    def change(self) -> float | None:
        """Return the change as a share of the first value (0.1 for 10 %); None if it is undefined."""
        if self.first is None or self.second is None or not self.first:
            return None
        return self.second / self.first - 1


class Ratio(NamedTuple):
    """Mean slowdowns of a group; `r`, their difference over the smaller one, is above 0 if the second is better."""

    label: str
    meaning: str
    jobs: int
    first: Value
    second: Value

    @property
    def r(self) -> float | None:
        return ratio(self.first, self.second)


def versus(metric: Metric, first: Value, second: Value) -> Versus:
    if metric.better is None or first is None or second is None or first == second:
        return Versus(metric, first, second, None)
    return Versus(metric, first, second, 1 if (second < first) == (metric.better == "smaller") else 0)


# Jobs one by one


class Moved(NamedTuple):
    """Number of the jobs that start earlier, or later, and sum, median and maximum of the seconds."""

    jobs: int
    total: float
    median: float | None
    most: float


class WaitSums(NamedTuple):
    """Sums of all waits in seconds: `second` is `first` minus what is `saved` by jobs plus what is `added`."""

    first: float
    saved: float
    added: float
    second: float


class MoveSize(NamedTuple):
    """Numbers of jobs that start earlier and later by more than `above` and at most `most` seconds."""

    above: float
    most: float
    earlier: int
    later: int


@dataclass(frozen=True)
class Moves:
    """Numbers of jobs that start (or end) earlier and later in the second schedule, and by how much they move."""

    earlier: Moved
    same: int
    later: Moved
    sizes: tuple[MoveSize, ...]


class Change(NamedTuple):
    """Job that ends at different times: starts and ends as pairs (first schedule, second schedule)."""

    job: Job
    starts: tuple[float, float]
    ends: tuple[float, float]
    waits: tuple[float, float]
    """Waits of the job before its first start in both schedules, in seconds."""

    @property
    def later(self) -> float:
        return self.ends[1] - self.ends[0]


def moves(later: NDArray[np.float64]) -> Moves:
    """Return the counts of jobs that start earlier and later, from the seconds by which they start `later`.

    >>> found = moves(np.array([0.0, -60.0, -61.0, 7200.0]))
    >>> found.same, found.earlier.total, found.later.jobs, found.sizes[0].earlier
    (1, 121.0, 1, 1)
    """
    known = later[~np.isnan(later)]
    back, on = -known[known < 0], known[known > 0]
    sizes = tuple(
        MoveSize(above, most, int(((back > above) & (back <= most)).sum()), int(((on > above) & (on <= most)).sum()))
        for above, most in pairwise(SIZES)
    )
    return Moves(_summary_of(back), int((known == 0).sum()), _summary_of(on), sizes)


def _summary_of(by: NDArray[np.float64]) -> Moved:
    if not len(by):
        return Moved(0, 0.0, None, 0.0)
    return Moved(len(by), float(by.sum()), float(np.median(by)), float(by.max()))


# All together


@dataclass(frozen=True)
class Comparison(Tabular):
    """Comparison of a second schedule with a first one of the same jobs."""

    jobs: int
    metrics: tuple[Versus, ...]
    slowdowns: tuple[Ratio, ...]
    """Mean slowdowns of all jobs, then of the short, medium and long ones, in the classes of Lawson & Smirni."""
    priorities: tuple[Ratio, ...]
    """Mean slowdowns of two groups of jobs: those of high priority and those of low priority."""
    batches: tuple[Ratio, ...]
    """Mean slowdowns of the jobs in each batch; a batch is 1,000 jobs in order of submission."""
    categories: tuple[Ratio, ...]
    """Mean bounded slowdowns of the jobs in each of Kettimuthu's sixteen categories."""
    waits: WaitSums
    starts: Moves
    ends: Moves
    """Jobs that end earlier and later; as many as in `starts` unless jobs are suspended, take turns or lose work."""
    is_alike: bool
    """True if every job's end moves as much as its start, which equal sums do not prove."""
    gained: tuple[Change, ...]
    lost: tuple[Change, ...]
    schedules: tuple[Schedule, Schedule] | None = field(default=None, repr=False, compare=False)
    pairing: Pairing | None = field(default=None, repr=False, compare=False)
    """Jobs that both schedules have; None if they have the same."""

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        rows = ((each.metric.name, each.first, each.second) for each in self.metrics)
        names, first, second = zip(*rows, strict=True)
        values = {"first": np.array(first, dtype=float), "second": np.array(second, dtype=float)}
        return {"metric": np.array(names, dtype=object), **values}

    def to_pandas(self) -> Any:
        rows = {each.metric.name: (each.first, each.second) for each in self.metrics}
        return pandas().DataFrame.from_dict(rows, orient="index", columns=["first", "second"])

    def _repr_svg_(self) -> str | None:
        both = self.schedules
        if both is None or any(each.again is None for each in both):
            return None
        return picture_of(lambda: [drawn_again(each) for each in both], len(both[0].workload))

    def __repr__(self) -> str:
        earlier, later = self.starts.earlier.jobs, self.starts.later.jobs
        return f"<Comparison of {self.jobs:,} jobs: {earlier:,} start earlier, {later:,} later>"


def compare(first: Schedule, second: Schedule) -> Comparison:
    """Return how a second schedule of a trace differs from a first one; of their jobs, those count that both have."""
    workloads = first.workload, second.workload
    pairing = paired(*workloads)
    if pairing is not None and not (workloads[0].name == workloads[1].name and any(each.changes for each in workloads)):
        raise ParameterError("only two schedules of the same jobs can be compared")
    one, other = _in_both(first, second, pairing)
    values = tuple({**aggregates(each), **fragmentation(each.schedule)} for each in (one, other))
    listed = (metric for metric in (*METRICS, *FRAGMENTATION) if all(metric.name in of for of in values))
    metrics = tuple(versus(metric, *(of[metric.name] for of in values)) for metric in listed)
    everybody = Ratio("all", "every job", _jobs(values[0]), *(of["mean_slowdown"] for of in values))
    columns: list[tuple[Floats, ...]] = [(each.start, each.end, each.wait) for each in (first, second)]
    if pairing is not None:
        columns[1] = tuple(map(pairing.on_first, columns[1]))
    starts, ends, _ = (there - here for here, there in zip(*columns, strict=True))
    starts = np.where(np.isnan(ends), np.nan, starts)
    gained, lost = _extremes(first.workload.jobs, columns, ends)
    ended = ~np.isnan(ends)
    return Comparison(
        jobs=int(ended.sum()),
        metrics=metrics,
        slowdowns=(everybody, *_ratios(by_class(one), by_class(other), "mean_slowdown")),
        priorities=_ratios(by_priority(one), by_priority(other), "mean_slowdown"),
        batches=() if pairing else _ratios(by_batch(one), by_batch(other), "mean_slowdown"),
        categories=_ratios(by_category(one), by_category(other), "mean_bounded_slowdown"),
        waits=_waits(columns[0][2][ended], columns[1][2][ended]),
        starts=moves(starts),
        ends=moves(ends),
        is_alike=np.array_equal(starts, ends, equal_nan=True),
        gained=gained,
        lost=lost,
        schedules=(first, second),
        pairing=pairing,
    )


def _in_both(first: Schedule, second: Schedule, pairing: Pairing | None) -> tuple[FinishedJobs, FinishedJobs]:
    jobs = FinishedJobs.of(first), FinishedJobs.of(second)
    if pairing is None:
        return jobs
    one, other = (each.where(ranks[each.ranks] >= 0) for each, ranks in zip(jobs, pairing, strict=True))
    return one, other


def _waits(first: Floats, second: Floats) -> WaitSums:
    more = second - first
    return WaitSums(
        float(first.sum()), float((-more[more < 0]).sum()), float(more[more > 0].sum()), float(second.sum())
    )


def _jobs(values: dict[str, Value]) -> int:
    return int(values["jobs"] or 0)


def _ratios(first: list[GroupRow], second: list[GroupRow], name: str) -> tuple[Ratio, ...]:
    return tuple(
        Ratio(a.label, a.meaning, a.jobs, a.values[name], b.values[name]) for a, b in zip(first, second, strict=True)
    )


def _extremes(
    jobs: Sequence[Job], columns: Sequence[tuple[Floats, ...]], later: Floats
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Return up to `MOST` jobs that gain most, and that lose most, by the seconds that they end `later`."""
    order = np.argsort(later, kind="stable")
    gained = [rank for rank in order[:MOST].tolist() if later[rank] < 0]
    order = np.argsort(-later, kind="stable")
    lost = [rank for rank in order[:MOST].tolist() if later[rank] > 0]

    def change(rank: int) -> Change:
        starts, ends, waits = ((float(one[rank]), float(other[rank])) for one, other in zip(*columns, strict=True))
        return Change(jobs[rank], starts, ends, waits)

    return tuple(map(change, gained)), tuple(map(change, lost))
