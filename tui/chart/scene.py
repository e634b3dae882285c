"""Data of a chart at one time, as values that never change; they are computed without a screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.decisions.wording import Hole
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.history.times import EventTimes
from sim.support.formatting import Clock, clock_near
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
    """Box in the future: the processors that a job is expected to have from `start` to `end`."""

    rank: int
    start: float
    end: float
    processors: int
    kind: str
    """One of expected (running), sharing (running in a row that takes turns), reserved, or planned."""
    rows: tuple[int, ...] = ()


class Mark(NamedTuple):
    time: float
    kind: str
    """Kind of the mark: switch (of the policy), bookmark, fork (into a branch), parted (first difference of two runs)
    or guess (in a quiz). Two kinds are drawn only above the chart, not in the strip: promise (first reserved start of a
    job) and window (latest end of jobs that may pass it).
    """
    text: str
    since: float | None = None
    """Time whose day the text omits; None if the text has no time."""
    after: str = ""
    """Text after the time in the text of the mark, such as ", now +5m" if a planned start has moved."""

    def told(self, near: Callable[[float], Clock] = clock_near) -> str:
        """Return the text of the mark; `near(since)` writes a time without the day of `since`."""
        return self.text if self.since is None else f"{self.text} {near(self.since)(self.time)}{self.after}"


class Outline(NamedTuple):
    """Outline with a label: of a reservation, or of nodes that are not available."""

    name: str
    start: float
    end: float
    processors: int
    is_framed: bool = True
    is_above: bool = False
    """True for one that is drawn over the jobs of the plan, not only where processors are free."""


class Suspension(NamedTuple):
    time: float
    by: int
    victim: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chart:
    """Data of a run at one time that both renderers need, for screens and for files."""

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
    workload: Workload
    start: EventTimes
    """First starts by rank, nan if unknown; those after `clock` must not be shown."""
    end: EventTimes
    """Completions by rank, nan if unknown; those after `clock` must not be shown"""
    cancelled: Mapping[int, float] = field(default_factory=dict)
    """Times of cancellation by rank; those after `clock` must not be shown."""
    division: tuple[int, ...] = ()
    """Processors (bits) that each partition owned at the division."""
    lanes: tuple[Lane, ...] = ()
    outages: tuple[Outage, ...] = ()
    names: tuple[tuple[int, str], ...] = ()
    """Pairs (lowest processor, label) of nodes, from the lowest up; empty for numbers instead."""
    outlines: tuple[Outline, ...] = ()
    suspensions: tuple[Suspension, ...] = ()
    """Suspensions in the visible time; empty if there are too many to explain."""
    by_owner: ByOwner | None = None
    """Order of the processors in each column by their partitions, if these have lanes."""
    lane_names: tuple[LaneName, ...] = ()
    """Names of partitions or groups of nodes; empty without lanes, but not in a file."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ChartScene(Chart):
    """Chart for a screen, with past and plan together in one picture of pixels."""

    since: float | None
    """Time of the last step, None before the first; jobs that started then are shown as just started."""
    raster: Raster
    owners: NDArray[np.int8] | None
    """Array (band, column) with the partition that owns most of each pixel; None if the machine has no partitions"""
    homes: NDArray[np.int8] | None
    """Array (band, column) with the first owner of most of each pixel, or None."""
    missing: NDArray[np.bool_] | None = None
    """Array (band, column): True for each pixel of which most is unavailable; None if everything is available"""
    useless: NDArray[np.bool_] | None = None
    """Array (band, column): True where most is on nodes useless for waiting jobs; None if nowhere"""
    unused: tuple[int, ...] = ()
    """Number of free cores, then of those useless for each cause in `BARS`; empty for equal processors."""
    hole: Hole | None = None
    label: str = ""
    label_hue: int = 0
    is_told: bool = True
    """False if the panels describe the other of two charts."""
    shift: NDArray[np.float64] | None = None
    """Seconds by which each job starts later than in the other chart, by rank; infinite if unknown"""
    pending: bool = False
    """True if columns are missing, because drawing them would have taken too long."""
    band_cores: tuple[int, ...] = ()
    """Lowest core of each node, and the number of all cores, for bands of memory; empty if no memory is known."""
    memory: NDArray[np.int8] | None = None
    """Array (node, column): eighths of memory in use, -1 in the future; None if not shown"""

    @property
    def labels(self) -> tuple[str, ...]:
        if self.memory is not None:
            return (*(label for _, label in self.names), MEMORY)
        return tuple(label for _, label in self.names) or tuple(shorten(lane.name, _WIDEST) for lane in self.lane_names)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Drawing(Chart):
    """Chart for a file: jobs are stretches, not pixels, so that it can be enlarged; every job has a hue."""

    title: str
    begin: float
    until: float
    """Time at the right edge; from `clock` until it is the plan."""
    history: Past
    ran: tuple[Stretch, ...]
    """Stretches (a job holding processors) from the left edge until `clock`."""
    trails: tuple[Stretch, ...]
    """Times in which a job was suspended, with the processors that it had."""
    cut: tuple[Stretch, ...]
    useless_spans: tuple[tuple[float, float, int], ...] = ()
    """Times (begin, end) with cores (bits) of nodes useless for waiting jobs."""
