"""Score of forecasts: every start that was forecast in a recording is compared with the actual start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, median

from sim.cluster.values import Cluster, ClusterJob
from sim.forecast.forecast import MODELS, Foresight, Model
from sim.forecast.past import Past
from sim.forecast.ranges import SHARE, Range, Ranges

SLURM = "Slurm's own"
HORIZONS = (60.0, 600.0, 3600.0, 21600.0, inf)
"""Upper bounds, in seconds, of classes of forecasts. The class depends on how far ahead of the start a forecast was
made.
"""
NEAR, FAR = 60.0, 600.0
"""Largest error in seconds with which a forecast counts as good, and the largest with which it counts as fair."""


@dataclass(frozen=True)
class ForecastScore:
    """Score of one kind of forecast, over the pictures and jobs for which every kind has a forecast."""

    name: str
    forecasts: int
    """Number of forecasts of this kind, including those for which another kind has none."""
    median: float
    mean: float
    near: float
    """Share of the forecasts with an error of at most `NEAR` seconds."""
    far: float
    """Share of the forecasts with an error of at most `FAR` seconds."""
    early: float
    """Share of the forecasts that were more than `NEAR` seconds earlier than the actual start."""
    by_horizon: tuple[float | None, ...]
    """For each class of `HORIZONS`: median error in seconds of the forecasts in it; None if the class is empty."""


@dataclass(frozen=True)
class Score:
    """Score of all kinds of forecasts in one recording."""

    rows: tuple[ForecastScore, ...]
    common: int
    """Number of forecasts that are scored: every kind has a forecast for this job in this picture, and the job's actual
    start is known.
    """
    jobs: int
    """Number of different jobs in the forecasts counted by `common`."""
    horizons: tuple[int, ...]
    """For each class of `HORIZONS`: number of the forecasts in it. Only forecasts that `common` counts are included."""
    moments: int
    first: float
    last: float
    ranges: int
    """Number of ranges that can be judged: they are around forecasts of the last kind in `rows`, and the job's actual
    start is known.
    """
    inside: float | None
    """Share of the actual starts that are inside their ranges, over the ranges that `ranges` counts; None if `ranges`
    is 0.
    """
    missing: tuple[tuple[str, int], ...]
    """For each reason to wait that the last kind in `rows` cannot forecast: (reason, number of jobs that waited for
    it).
    """


class Scorer:
    """Collector that makes forecasts of every kind for the pictures (polled states) of a cluster, and scores them when
    the jobs start.

    A picture is skipped if it is less than `every` seconds later than the last one that was used.
    """

    def __init__(self, past: Iterable[ClusterJob] = (), every: float = 60.0, models: Sequence[Model] = MODELS) -> None:
        self._past, self._every, self._models = Past(past), every, models
        self._said: dict[str, dict[tuple[float, str], float]] = {
            name: {} for name in (SLURM, *(m.name for m in models))
        }
        self.ranges = Ranges()
        """Ranges around the forecasts of the last kind, computed from the errors of its earlier forecasts."""
        self._ranged: dict[tuple[float, str], Range] = {}
        self._waits: set[str] = set()
        self._started: dict[str, float] = {}
        self._missing: dict[str, set[str]] = defaultdict(set)
        self._at: list[float] = []

    def add(self, cluster: Cluster) -> None:
        """Add the next poll of the cluster: compare earlier forecasts with the starts that `cluster` shows, and
        forecast the starts of its waiting jobs."""
        self._past.see(cluster)
        for job in cluster.jobs:
            if job.is_waiting:
                self._waits.add(job.id)
            elif job.id in self._waits and job.start is not None and (job.is_running or job.nodes):
                self._start(job.id, job.start)
        if cluster.is_private or (self._at and cluster.at < self._at[-1] + self._every):
            return
        self._at.append(cluster.at)
        self.ranges.forget({job.id for job in cluster.queue})
        self._said[SLURM] |= {(cluster.at, job.id): job.start for job in cluster.queue if job.is_planned and job.start}
        ahead = Foresight(cluster, self._past)
        for model in self._models:
            self._said[model.name] |= {(cluster.at, job): start for job, start in ahead.starts(model).items()}
        known, own = self._said[self._models[-1].name], ahead.spans(self._models[-1], SHARE)
        for job in cluster.queue:
            start = known.get((cluster.at, job.id))
            if start is None:
                self._missing[job.reason or "None"].add(job.id)
                continue
            low, high = own.get(job.id, (start, start))
            span = Range(min(low, start), max(high, start))  # a longer job may let another one start earlier
            if (around := self.ranges.around(job.id, cluster.at, start, span)) is not None:
                self._ranged[cluster.at, job.id] = around

    def _start(self, job: str, came: float) -> None:
        """Record the actual start of a job, and ignore later calls for the same job."""
        if job not in self._started:
            self._started[job] = came
            self.ranges.start(job, came)

    def score(self) -> Score:
        """Return the score of all forecasts for jobs that have started by now."""
        known = {key: self._started[key[1]] for said in self._said.values() for key in said if key[1] in self._started}
        known = {key: start for key, start in known.items() if start >= key[0]}
        pairs = sorted(key for key in known if all(key in said for said in self._said.values()))
        places = {key: _place(known[key] - key[0]) for key in pairs}
        inside = [low <= known[key] <= high for key, (low, high) in self._ranged.items() if key in known]
        return Score(
            rows=tuple(
                self._row(name, {key: said[key] - known[key] for key in pairs}, places)
                for name, said in self._said.items()
            ),
            common=len(pairs),
            jobs=len({job for _, job in pairs}),
            horizons=tuple(sum(place == at for place in places.values()) for at in range(len(HORIZONS))),
            moments=len(self._at),
            first=self._at[0] if self._at else 0.0,
            last=self._at[-1] if self._at else 0.0,
            ranges=len(inside),
            inside=fmean(inside) if inside else None,
            missing=tuple(
                sorted(((why, len(jobs)) for why, jobs in self._missing.items()), key=lambda e: (-e[1], e[0]))
            ),
        )

    def _row(
        self, name: str, errors: dict[tuple[float, str], float], places: dict[tuple[float, str], int]
    ) -> ForecastScore:
        sizes = [abs(error) for error in errors.values()] or [inf]
        classes = [[abs(errors[key]) for key in errors if places[key] == at] for at in range(len(HORIZONS))]
        return ForecastScore(
            name=name,
            forecasts=len(self._said[name]),
            median=median(sizes),
            mean=fmean(sizes),
            near=fmean(size <= NEAR for size in sizes),
            far=fmean(size <= FAR for size in sizes),
            early=fmean(error < -NEAR for error in errors.values()) if errors else 0.0,
            by_horizon=tuple(median(of) if of else None for of in classes),
        )


def _place(ahead: float) -> int:
    return next(at for at, most in enumerate(HORIZONS) if ahead <= most)
