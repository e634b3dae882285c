"""Charts at one time as values that never change; they are made without a screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.formatting import Clock, clock_near
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.workload.model import Workload
from sim.workload.outages import Outage
from tui.chart.lanes import Lane
from tui.chart.owners import ByOwner
from tui.chart.partition_names import LaneName
from tui.chart.raster import Raster
from tui.chart.scale import ChartView
from tui.look.text import shorten

_WIDEST = 10
"""Largest width in columns of a partition's name at the left of the chart."""


class Box(NamedTuple):
    """Box of a job in the future part of the chart: processors and a time."""

    rank: int
    start: float
    end: float
    processors: int
    kind: str
    """Kind of the box: expected (a running job until its expected end), sharing (the same in a matrix row), reserved,
    planned.
    """
    rows: tuple[int, ...] = ()
    """Rows of the matrix in which the job is planned."""


class Mark(NamedTuple):
    """Mark at a time, above the chart and in the strip below."""

    time: float
    kind: str
    """Kind of the mark: switch, bookmark, fork, parted, guess; the kinds promise and window appear only in the
    chart.
    """
    text: str
    since: float | None = None
    """Time that follows the text of the mark; None if no time does."""
    after: str = ""
    """Text after that time."""

    def told(self, near: Callable[[float], Clock] = clock_near) -> str:
        """Return the text of the mark with its time; `near` returns the function that writes the time."""
        return self.text if self.since is None else f"{self.text} {near(self.since)(self.time)}{self.after}"


class Outline(NamedTuple):
    """Outline of some processors for a time, with a label: a reservation, or the reason why a node is down."""

    name: str
    start: float
    end: float
    processors: int
    is_framed: bool = True


class Hole(NamedTuple):
    """Hole: free processors on which other jobs may pass the head of the queue without delaying it."""

    rank: int
    """Rank of the head of the queue."""
    until: float
    """Planned start of the head; a job that ends by then may use the hole"""
    extra: int | None
    """Number of extra processors, left over when the head starts; None if the reason does not state it"""


class Suspension(NamedTuple):
    """Suspension of a job (by its rank) for another one."""

    time: float
    by: int
    """Rank of the job that gets the processors."""
    victim: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chart:
    """Chart of a run at one time: what the renderers for screens and for files have in common."""

    view: ChartView
    clock: float
    """Time of now in seconds; the past is at its left, the plan at its right."""
    plan: tuple[Box, ...]
    marks: tuple[Mark, ...]
    mode: str
    """Meaning of the colours (see `tui.chart.colours`)."""
    hues: NDArray[np.uint8]
    """Hue of each visible job, indexed by rank."""
    legend: tuple[tuple[int, str], ...]
    """Meaning of hues, as pairs (hue, meaning in words)"""
    workload: Workload
    start: NDArray[np.float64]
    """First start of each job by rank, nan if unknown. Starts after `clock` must not be shown."""
    end: NDArray[np.float64]
    """Completion of each job by rank, inf if it is later"""
    division: tuple[int, ...] = ()
    """Processors that each partition owned when the machine was divided, as bits; empty without partitions."""
    lanes: tuple[Lane, ...] = ()
    """Lanes of matrix rows from the top; empty if rows have no lanes."""
    outages: tuple[Outage, ...] = ()
    """Known times at which processors are unavailable."""
    names: tuple[tuple[int, str], ...] = ()
    """Labels of nodes with their lowest processor, from the lowest up; empty if processors have numbers."""
    outlines: tuple[Outline, ...] = ()
    suspensions: tuple[Suspension, ...] = ()
    """Suspensions in the visible time; empty if there are too many to explain."""
    by_owner: ByOwner | None = None
    """Order of the processors if partitions have lanes, otherwise None."""
    lane_names: tuple[LaneName, ...] = ()
    """Names of the partitions; on a screen empty unless they have lanes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChartScene(Chart):
    """Chart for a screen, with past and plan together as one raster of pixels."""

    since: float | None
    """Time of the last step; jobs that started then count as just started."""
    raster: Raster
    owners: NDArray[np.int8] | None
    """Partition that owns most of each pixel, by band and column; None if there are no partitions"""
    homes: NDArray[np.int8] | None
    """Partition that had most of each band and column when the machine was divided; None if there are no partitions."""
    missing: NDArray[np.bool_] | None = None
    """True for each band and column of which most is unavailable; None if everything is available"""
    useless: NDArray[np.bool_] | None = None
    """True for each band and column of which most is on nodes whose free cores no waiting job can use, or None
    """
    unused: tuple[int, ...] = ()
    """Number of free cores now, and how many of them are useless for each cause in `BARS`; empty for equal
    processors.
    """
    hole: Hole | None = None
    label: str = ""
    """Name of the chart's run if two charts are shown, otherwise ""."""
    label_hue: int = 0
    is_told: bool = True
    """True if the panels are about this run."""
    shift: NDArray[np.float64] | None = None
    """Seconds by which each job starts later than in the other chart, by rank; infinite if unknown; None for a single
    chart
    """
    pending: bool = False
    """True if some columns are not drawn yet."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels at the left of the chart; empty if there are numbers of processors."""
        return tuple(label for _, label in self.names) or tuple(shorten(lane.name, _WIDEST) for lane in self.lane_names)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Drawing(Chart):
    """Chart for a picture in a file, in stretches of time, so that it can be enlarged; every job has a hue."""

    title: str
    """Title of the picture: the specs of the policies."""
    begin: float
    until: float
    """Time at the right edge; the part after `clock` is planned."""
    history: Past
    ran: tuple[Stretch, ...]
    """Stretches in which jobs held processors, from the left edge until `clock`."""
    trails: tuple[Stretch, ...]
    """Times and processors of suspended jobs, drawn as trails."""
    cut: tuple[Stretch, ...]
    """Stretches at whose end the job was killed."""
