"""Charts at one time as immutable values, which are made without a screen."""

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
"""Largest width in columns of a partition's name left of the chart."""


class Box(NamedTuple):
    """Box of a job on processors in the future."""

    rank: int
    start: float
    end: float
    processors: int
    kind: str
    """Kind of the box: expected (a running job until its expected end), sharing (the same in a row), reserved, planned.
    """
    rows: tuple[int, ...] = ()
    """Rows of the matrix in which the job is planned."""


class Mark(NamedTuple):
    """Mark at a time, shown above the chart and in the strip."""

    time: float
    kind: str
    """Kind of the mark: switch, bookmark, fork, parted, guess; promise and window are in the chart alone."""
    text: str
    since: float | None = None
    """Time of the promise, if the text is followed by it."""
    after: str = ""
    """Text after the time."""

    def told(self, near: Callable[[float], Clock] = clock_near) -> str:
        """Return the text of the mark with its time, which `near` writes."""
        return self.text if self.since is None else f"{self.text} {near(self.since)(self.time)}{self.after}"


class Outline(NamedTuple):
    """Processors with a label for a time: a reservation, or the reason why a node is down."""

    name: str
    start: float
    end: float
    processors: int
    is_framed: bool = True


class Hole(NamedTuple):
    """Free processors on which jobs may pass the head of the queue without delaying it."""

    rank: int
    """Rank of the head of the queue."""
    until: float
    """Planned start of the head: a job that ends by then may pass it"""
    extra: int | None
    """Number of extra processors at that time; None if they did not matter"""


class Suspension(NamedTuple):
    """Suspension of a job (by its rank) for another one."""

    time: float
    by: int
    """Job that gets the processors."""
    victim: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chart:
    """Chart of a run at one time, for a screen or a drawing."""

    view: ChartView
    clock: float
    """Time of now in seconds: left of it is the past, right of it the plan."""
    plan: tuple[Box, ...]
    marks: tuple[Mark, ...]
    mode: str
    """Meaning of the colours (see `tui.chart.colours`)."""
    hues: NDArray[np.uint8]
    """Hue of each visible job, by rank."""
    legend: tuple[tuple[int, str], ...]
    """(hue, meaning)"""
    workload: Workload
    start: NDArray[np.float64]
    """rank -> first start, nan if unknown; values after `clock` must not be shown."""
    end: NDArray[np.float64]
    """rank -> completion, inf if later"""
    division: tuple[int, ...] = ()
    """Processors that each partition owned when the machine was divided."""
    lanes: tuple[Lane, ...] = ()
    """Lanes from the top, if the rows of a matrix are drawn one above the other."""
    outages: tuple[Outage, ...] = ()
    """Known times at which processors are unavailable."""
    names: tuple[tuple[int, str], ...] = ()
    """(lowest processor, label) of nodes, upwards; none: processors are numbers."""
    outlines: tuple[Outline, ...] = ()
    suspensions: tuple[Suspension, ...] = ()
    """Visible suspensions, if they are few."""
    by_owner: ByOwner | None = None
    """Order of the processors if partitions are drawn as lanes; else None."""
    lane_names: tuple[LaneName, ...] = ()
    """Names of the partitions; on a screen only if they are lanes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChartScene(Chart):
    """Chart in pixels for a screen, with past and plan as one raster."""

    since: float | None
    """Time of the last step; jobs started then have just started."""
    raster: Raster
    owners: NDArray[np.int8] | None
    """[band, column]: the partition that owns it, or None"""
    homes: NDArray[np.int8] | None
    """[band, column]: partition that owned the band's processors when the machine was divided."""
    missing: NDArray[np.bool_] | None = None
    """[band, column]: most of it is unavailable; None: all is available"""
    useless: NDArray[np.bool_] | None = None
    """[band, column]: most of it belongs to nodes whose free cores no waiting job can use; None: there are none"""
    unused: tuple[int, ...] = ()
    """Free cores now, and of these the useless ones by each of `BARS`; empty for equal processors."""
    hole: Hole | None = None
    label: str = ""
    """Name of the chart's run if two are shown."""
    label_hue: int = 0
    is_told: bool = True
    """True if the panels show this run."""
    shift: NDArray[np.float64] | None = None
    """Seconds by which each job starts later than in the other chart, by rank; infinite if unknown"""
    pending: bool = False
    """True if some columns have not been drawn yet."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels left of the chart; if empty, numbers of processors are written there."""
        return tuple(label for _, label in self.names) or tuple(shorten(lane.name, _WIDEST) for lane in self.lane_names)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Drawing(Chart):
    """Chart in stretches of time, for a picture that can be enlarged; all of its jobs have hues."""

    title: str
    """Names of the policies, as the title of the picture."""
    begin: float
    until: float
    """Time at the right edge; the part after `clock` is planned."""
    history: Past
    ran: tuple[Stretch, ...]
    """Stretches on processors from `begin` until `clock`, as drawn."""
    trails: tuple[Stretch, ...]
    """Former places of suspended jobs."""
    cut: tuple[Stretch, ...]
    """Stretches that ended with the job killed."""
