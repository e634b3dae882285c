"""Forecasts of starts, with ranges, for a cluster's latest picture, and errors of the last day's forecasts."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import NamedTuple

from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.expected import Expected, expected_in, trimmed
from sim.live.forecast.forecast import BETWEEN, Foresight
from sim.live.forecast.past import PastJobs
from sim.live.forecast.ranges import ENOUGH, SHARE, Range, Ranges
from sim.live.forecast.score import FAR, NEAR

DAY = 86400.0
EVERY = 300.0
"""Smallest time in seconds between two pictures whose forecasts are kept for the score."""
MOST_KEPT = 50_000
"""Largest number of errors of forecasts, from the last day, that are kept."""


class _SaidOfJob(NamedTuple):
    at: float
    ours: float
    slurm: float | None
    range: Range | None


class _Error(NamedTuple):
    came: float
    """Actual start of the job."""
    ours: float
    """Seconds by which this program's forecast was later than the actual start; negative if it was earlier."""
    slurm: float | None
    is_inside: bool | None
    """True if the actual start was inside the range of the forecast; None if there was no range."""


@dataclass(frozen=True)
class DayScore:
    """Score of one kind of forecast (this program's, or Slurm's) over the jobs that started within the last day."""

    forecasts: int
    median: float
    far: float
    """Share of the forecasts with an error of at most `FAR` seconds."""
    early: float
    """Share of the forecasts that were more than `NEAR` seconds earlier than the actual start."""


@dataclass(frozen=True)
class Forecasts:
    """Forecasts for the waiting jobs of one picture."""

    at: float
    starts: Mapping[str, Expected]
    ranges: Mapping[str, Range]
    """For each job (by id) with enough earlier forecasts: the range around its middle forecast."""
    ours: DayScore | None = None
    slurm: DayScore | None = None
    inside: float | None = None
    """Share of the starts within the last day that were inside their range; None if there are too few starts."""

    def span(self, job: str) -> Range | None:
        """Return the range of a job's start, else the (lowest, highest) expected start; None if no start is known."""
        found, known = self.ranges.get(job), self.starts.get(job)
        return found or (None if known is None else Range(known.low, known.high))


class Board:
    """Collector that makes forecasts for each picture of a cluster, and scores them when the jobs start. Pictures must
    be added in order of time.
    """

    def __init__(self, past: Iterable[ClusterJob] = (), every: float = EVERY) -> None:
        self.past, self._every = PastJobs(past), every
        self._ranges = Ranges()
        self._open: dict[str, list[_SaidOfJob]] = defaultdict(list)
        self._errors: deque[_Error] = deque(maxlen=MOST_KEPT)
        self._kept_at: float | None = None
        self._ahead: Foresight | None = None
        """Forecasts that `keep` made last; `add` uses these, instead of making its own, if they are of the same
        picture
        """

    def learn(self, jobs: Iterable[ClusterJob]) -> None:
        """Add jobs that ended earlier, from whose run times the forecasts are made, and score their forecasts."""
        for job in jobs:
            self.past.add(job)
            if job.id in self._open and job.start is not None:
                self._start(job.id, job.start, self._open.pop(job.id))

    def see(self, cluster: Cluster) -> None:
        """Add the next picture without making forecasts: score the kept forecasts of the jobs that have started."""
        self.past.see(cluster)
        for job in cluster.jobs:
            if not job.is_waiting and job.id in self._open:
                said = self._open.pop(job.id)
                if job.start is not None and (job.is_running or job.nodes):
                    self._start(job.id, job.start, said)
        waiting = {job.id: job for job in cluster.queue}
        for gone in [job for job in self._open if job not in waiting]:
            del self._open[gone]
        self._ranges.forget(waiting)
        while self._errors and self._errors[0].came < cluster.at - DAY:
            self._errors.popleft()

    def keep(self, cluster: Cluster) -> None:
        """Add the next picture; its forecasts count if `every` seconds have passed since the last that do."""
        self.see(cluster)
        if self._kept_at is not None and cluster.at < self._kept_at + self._every:
            return
        self._kept_at, waiting = cluster.at, {job.id: job for job in cluster.queue}
        ahead = self._ahead = Foresight(trimmed(cluster), self.past)
        own = ahead.spans(SHARE)
        for id, start in ahead.starts(BETWEEN).items():
            job, found = waiting[id], self._ranges.around(id, cluster.at, start, own[id])
            self._open[id].append(_SaidOfJob(cluster.at, start, job.start if job.is_planned else None, found))

    def add(self, cluster: Cluster) -> Forecasts:
        """Add the next picture, and return the forecasts for its waiting jobs."""
        self._ahead = None
        self.keep(cluster)
        starts, ranges = expected_in(self._ahead or Foresight(trimmed(cluster), self.past)), dict[str, Range]()
        for id, start in starts.items():
            if (said := self._open.get(id)) and (around := said[-1].range) is not None:
                moved = start.middle - said[-1].ours
                ranges[id] = Range(max(around.low + moved, cluster.at), max(around.high + moved, cluster.at))
        inside = [error.is_inside for error in self._errors if error.is_inside is not None]
        return Forecasts(
            cluster.at, starts, ranges,
            _score(error.ours for error in self._errors),
            _score(error.slurm for error in self._errors if error.slurm is not None),
            fmean(inside) if len(inside) >= ENOUGH else None,
        )  # fmt: skip

    def _start(self, job: str, came: float, said: list[_SaidOfJob]) -> None:
        self._ranges.start(job, came)
        for at, ours, slurm, around in said:
            if at <= came:
                is_inside = None if around is None else around.low <= came <= around.high
                self._errors.append(_Error(came, ours - came, None if slurm is None else slurm - came, is_inside))


def _score(errors: Iterable[float]) -> DayScore | None:
    found = list(errors)
    if not found:
        return None
    sizes = [abs(error) for error in found]
    early = fmean(error < -NEAR for error in found)
    return DayScore(len(found), median(sizes), fmean(size <= FAR for size in sizes), early)
