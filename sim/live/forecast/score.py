"""Score of forecasts: every start that was forecast in a recording is compared with the actual start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from statistics import fmean, median
from typing import NamedTuple

from sim.live.cluster.recording import Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.forecast import MODELS, Foresight, seconds_of
from sim.live.forecast.past import PastJobs
from sim.live.forecast.ranges import SHARE, Range, Ranges

SLURM = "Slurm's own"
NAMES = (SLURM, *(model.name for model in MODELS))
EVERY = 60.0
"""Smallest time in seconds between two moments whose forecasts are scored, unless the user asks for another."""
PATIENCE = 600.0
"""Number of seconds that a score should take on a usual computer; see `interval_of`."""
HORIZONS = (120.0, 300.0, 3600.0, 21600.0, inf)
"""Upper bounds, in seconds, of classes of forecasts by the wait that came, or by the wait that Slurm's date says."""
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
    """For each class of `HORIZONS`: median error in seconds of the forecasts in it; None if the class is empty. The
    classes are by the wait that came, in `by_slurm` by Slurm's dates."""
    by_slurm: tuple[float | None, ...]


@dataclass(frozen=True)
class Score:
    """Score of all kinds of forecasts in one recording."""

    rows: tuple[ForecastScore, ...]
    """One for each kind that made any forecast."""
    common: int
    """Number of scored forecasts: every kind in `rows` has one for this job and picture, whose start is known."""
    jobs: int
    """Number of different jobs in the forecasts counted by `common`."""
    horizons: tuple[int, ...]
    """For each class of `HORIZONS`: number of the forecasts in it. Only forecasts that `common` counts are included."""
    slurm_horizons: tuple[int, ...]
    moments: int
    first: float
    last: float
    ranges: int
    """Number of ranges, around forecasts of the last kind in `rows`, of jobs whose start is known."""
    inside: float | None
    """Share of the actual starts that are inside their ranges; None if `ranges` is 0."""
    missing: tuple[tuple[str, int], ...]
    """For each reason to wait that the last kind in `rows` cannot forecast: (reason, number of jobs that waited for
    it).
    """


class _Said(NamedTuple):
    """Forecasts for one job that were made at one time."""

    at: float
    starts: tuple[float | None, ...]
    """Start that each kind of forecast said, Slurm's own first; None if it had no forecast"""
    range: Range | None
    """Range around the forecast of the last kind, or None"""


class Scorer:
    """Collector that makes forecasts of every kind for the pictures (polled states) of a cluster, and scores them when
    the jobs start.

    A picture is skipped if it is less than `every` seconds later than the last one that was used.
    """

    def __init__(self, past: Iterable[ClusterJob] = (), every: float = EVERY) -> None:
        self._past, self._every = PastJobs(past), every
        self._said: dict[str, list[_Said]] = defaultdict(list)
        """For each job (by id): what was forecast for it, in order of time"""
        self.ranges = Ranges()
        """Ranges around the forecasts of the last kind, computed from the errors of its earlier forecasts."""
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
        ahead = Foresight(cluster, self._past)
        found, own = [ahead.starts(model) for model in MODELS], ahead.spans(SHARE)
        for job in cluster.queue:
            starts = ((job.start or None) if job.is_planned else None, *(known.get(job.id) for known in found))
            around, start = None, starts[-1]
            if start is None:
                self._missing[job.reason or "None"].add(job.id)
            else:
                around = self.ranges.around(job.id, cluster.at, start, own[job.id])
            if any(each is not None for each in starts):
                self._said[job.id].append(_Said(cluster.at, starts, around))

    def _start(self, job: str, came: float) -> None:
        if job not in self._started:
            self._started[job] = came
            self.ranges.start(job, came)

    def score(self) -> Score:
        """Return the score of forecasts for jobs that have started by now; kinds that made no forecast are left out."""
        made = [
            sum(said.starts[kind] is not None for each in self._said.values() for said in each)
            for kind in range(len(NAMES))
        ]
        kinds = [kind for kind, many in enumerate(made) if many]
        judged = [
            (job, self._started[job], said)
            for job, each in self._said.items() if job in self._started
            for said in each if self._started[job] >= said.at
        ]  # fmt: skip
        pairs = [each for each in judged if all(each[2].starts[kind] is not None for kind in kinds)]
        places = [_place(came - said.at) for _, came, said in pairs]
        slurms = [_place(said.starts[0] - said.at) if said.starts[0] else -1 for _, _, said in pairs]
        errors = {kind: [(said.starts[kind] or 0.0) - came for _, came, said in pairs] for kind in kinds}
        inside = [said.range.low <= came <= said.range.high for _, came, said in judged if said.range is not None]
        return Score(
            rows=tuple(_row(NAMES[kind], made[kind], errors[kind], places, slurms) for kind in kinds),
            common=len(pairs),
            jobs=len({job for job, _, _ in pairs}),
            horizons=tuple(map(places.count, range(len(HORIZONS)))),
            slurm_horizons=tuple(map(slurms.count, range(len(HORIZONS)))),
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
    name: str, forecasts: int, errors: Sequence[float], places: Sequence[int], slurms: Sequence[int]
) -> ForecastScore:
    sizes = [abs(error) for error in errors] or [inf]
    return ForecastScore(
        name=name,
        forecasts=forecasts,
        median=median(sizes),
        mean=fmean(sizes),
        near=fmean(size <= NEAR for size in sizes),
        far=fmean(size <= FAR for size in sizes),
        early=fmean(error < -NEAR for error in errors) if errors else 0.0,
        by_horizon=_medians(sizes, places),
        by_slurm=_medians(sizes, slurms),
    )


def _medians(sizes: Sequence[float], places: Sequence[int]) -> tuple[float | None, ...]:
    """Return the median size of errors in each class of `HORIZONS`; `places` are the classes of the sizes."""
    classes = ([size for size, place in zip(sizes, places, strict=False) if place == at] for at in range(len(HORIZONS)))
    return tuple(median(of) if of else None for of in classes)


def interval_of(recording: Recording) -> float:
    """Return the seconds between two moments at which forecasts are made, unless the user asks for others. It is a
    minute; for a long recording of a large cluster it is more, so that the score takes roughly `PATIENCE` seconds.
    """
    times = recording.times()
    if len(times) < 2:
        return EVERY
    length = times[-1] - times[0]
    each = max(seconds_of(recording.at(times[0] + share * length)) for share in (0.0, 0.5, 1.0))
    return max(EVERY, ceil(length * each / PATIENCE / EVERY) * EVERY)


def _place(ahead: float) -> int:
    return next(at for at, most in enumerate(HORIZONS) if ahead <= most)
