"""Data of a chart at one time, as values that never change; they are computed without a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.decisions.wording import Hole
from sim.formatting import Clock, clock_near
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.history.times import EventTimes
from sim.workload.model import Workload
from sim.workload.outages import Outage
from tui.chart.lanes import Lane
from tui.chart.owners import ByOwner
from tui.chart.partition_names import LaneName
from tui.chart.raster import Raster
from tui.chart.scale import ChartView
from tui.look.text import shorten

MEMORY = "mem"
"""Name of the bands of memory among the labels of nodes."""
_WIDEST = 10
"""Largest width in columns of a partition's name at the left of the chart."""


class Box(NamedTuple):
    """Box in the future part of the chart: the processors that a job is expected to have from `start` to `end`."""

    rank: int
    start: float
    end: float
    processors: int
    kind: str
    """Kind of the box: expected (a running job until its expected end), sharing (such a job in a matrix row that takes
    turns), reserved, or planned (without a reservation).
    """
    rows: tuple[int, ...] = ()
    """Ids of the matrix rows in which the job is; empty if the box belongs to no row."""


class Mark(NamedTuple):
    """Mark at a time, drawn above the chart and in the strip of curves below."""

    time: float
    kind: str
    """Kind of the mark: switch (of the policy), bookmark, fork (into a branch), parted (first difference of two runs)
    or guess (in a quiz). Two kinds are drawn only above the chart, not in the strip: promise (first reserved start of a
    job) and window (latest end of jobs that may pass it).
    """
    text: str
    since: float | None = None
    """Reference time for the text of the mark: the text omits the day if the mark is on the same day as this time. None
    if the text has no time.
    """
    after: str = ""
    """Text after the time in the text of the mark, such as ", now +5m" if a planned start has moved."""

    def told(self, near: Callable[[float], Clock] = clock_near) -> str:
        """Return the text of the mark, with its time if `since` is given. `near(since)` returns a function that writes
        a time as text, without the day if that is the day of `since`.
        """
        return self.text if self.since is None else f"{self.text} {near(self.since)(self.time)}{self.after}"


class Outline(NamedTuple):
    """Outline around some processors for a time, with a label: a reservation, or the reason why a node is not
    available.
    """

    name: str
    start: float
    end: float
    processors: int
    is_framed: bool = True


class Suspension(NamedTuple):
    """Suspension of the job with the rank `victim` for another job."""

    time: float
    by: int
    """Rank of the job that gets the processors."""
    victim: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chart:
    """Chart of a run at one time: the data that both renderers need, the one for screens and the one for files."""

    view: ChartView
    clock: float
    """Time of now in seconds; the past is at its left, the plan at its right."""
    plan: tuple[Box, ...]
    marks: tuple[Mark, ...]
    mode: str
    """Name of the colour mode, such as job or user: what the colours mean (see `tui.chart.colours`)."""
    hues: NDArray[np.uint8]
    """Hue of each job, indexed by rank; only those of visible jobs are valid."""
    legend: tuple[tuple[int, str], ...]
    """Meaning of hues, as pairs (hue, meaning in words)"""
    workload: Workload
    start: EventTimes
    """First start of each job by rank, nan if unknown. Starts after `clock` must not be shown."""
    end: EventTimes
    """Completion of each job by rank, nan if unknown. Completions after `clock` must not be shown"""
    cancelled: Mapping[int, float] = field(default_factory=dict)
    """Time at which each cancelled job was cancelled, by rank. Times after `clock` must not be shown."""
    division: tuple[int, ...] = ()
    """For each partition: processors (bits) that it owned when the machine was divided into partitions; empty without
    partitions.
    """
    lanes: tuple[Lane, ...] = ()
    """Lanes of matrix rows from the top; empty if rows have no lanes."""
    outages: tuple[Outage, ...] = ()
    """Known times at which processors are unavailable."""
    names: tuple[tuple[int, str], ...] = ()
    """Pairs (lowest processor, label) of nodes, from the lowest up; empty if processors have numbers in place of
    labels.
    """
    outlines: tuple[Outline, ...] = ()
    suspensions: tuple[Suspension, ...] = ()
    """Suspensions in the visible time; empty if there are too many to explain."""
    by_owner: ByOwner | None = None
    """Vertical order of the processors in each column of the chart: by the partition that owns them. None if
    partitions have no lanes.
    """
    lane_names: tuple[LaneName, ...] = ()
    """Name of each lane: of each partition or, on a machine of nodes, of each group of equally full nodes. Empty
    without lanes; but a picture in a file has the names of partitions even then.
    """


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChartScene(Chart):
    """Chart for a screen, with past and plan together in one picture of pixels."""

    since: float | None
    """Time of the last step, None before the first; jobs that started at this time are shown as just started."""
    raster: Raster
    owners: NDArray[np.int8] | None
    """Array (band, column) with the partition that owns most of each pixel; None if the machine has no partitions"""
    homes: NDArray[np.int8] | None
    """Array (band, column) with the partition that owned most of each pixel when the machine was divided; None if the
    machine has no partitions.
    """
    missing: NDArray[np.bool_] | None = None
    """Array (band, column): True for each pixel of which most is unavailable; None if everything is available"""
    useless: NDArray[np.bool_] | None = None
    """Array (band, column): True for each pixel of which most is on nodes whose free cores no waiting job can use; None
    if this is true for no pixel
    """
    unused: tuple[int, ...] = ()
    """Number of free cores now; then, for each cause in `BARS` (why no waiting job can use free cores), the number of
    free cores with that cause. Empty for equal processors.
    """
    hole: Hole | None = None
    label: str = ""
    """Name of the run of this chart if two charts are shown; "" for a single chart."""
    label_hue: int = 0
    is_told: bool = True
    """True if the panels around the chart describe this run; with two charts, they describe only one."""
    shift: NDArray[np.float64] | None = None
    """Seconds by which each job starts later than in the other chart, indexed by rank; infinite if unknown. None if
    there is one chart only
    """
    pending: bool = False
    """True if some columns are still missing, because drawing them would have taken too long."""
    band_cores: tuple[int, ...] = ()
    """Lowest core of each node, and the number of all cores, for bands of memory; empty if no memory is known."""
    memory: NDArray[np.int8] | None = None
    """Array (node, column): eighths of the node's memory in use, -1 in the future; None if the chart does not show
    it
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels at the left of the chart: nodes and the name of their bands of memory, or partitions; empty
        if the numbers of processors stand there.
        """
        if self.memory is not None:
            return (*(label for _, label in self.names), MEMORY)
        return tuple(label for _, label in self.names) or tuple(shorten(lane.name, _WIDEST) for lane in self.lane_names)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Drawing(Chart):
    """Chart for a picture in a file. Jobs are kept as stretches (times on processors), not as pixels, so that the
    picture can be enlarged; every job has a hue.
    """

    title: str
    """Title of the picture: the specs of the policy and of its replacements during the run."""
    begin: float
    until: float
    """Time at the right edge, in seconds; what is between `clock` and this time is planned."""
    history: Past
    ran: tuple[Stretch, ...]
    """Stretches (times in which a job held processors) from the left edge until `clock`."""
    trails: tuple[Stretch, ...]
    """Times in which a job was suspended, with the processors that it had; drawn as trails."""
    cut: tuple[Stretch, ...]
    """Stretches (times in which a job held processors) at whose end a job was killed."""
    useless_spans: tuple[tuple[float, float, int], ...] = ()
    """Times (begin, end) with the cores (bits) of nodes whose free cores no waiting job can use."""
