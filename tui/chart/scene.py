"""What the chart draws of one moment: immutable values that are made far from any screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.workload.model import Workload
from tui.chart.raster import Raster
from tui.chart.scale import ChartView


class Box(NamedTuple):
    """A job on processors for some time to come, as it is drawn."""

    rank: int
    start: float
    end: float
    processors: int
    kind: str
    """expected (a running job until its expected end), reserved, planned."""


class Mark(NamedTuple):
    """A moment worth a sign above the chart and in the strip."""

    time: float
    kind: str
    """switch, bookmark, fork, parted."""
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ChartScene:
    """The chart's part of a scene: past and plan as one raster, and what is needed to name and to colour it."""

    view: ChartView
    clock: float
    """Left of it is the past, right of it the plan."""
    since: float | None
    """When the last step was: who started then has just started."""
    raster: Raster
    plan: tuple[Box, ...]
    owners: NDArray[np.int8] | None
    """[band, column]: the partition that owns it; None where there are no partitions."""
    marks: tuple[Mark, ...]
    mode: str
    """What the colours tell (see `tui.chart.colours`)."""
    hues: NDArray[np.uint8]
    """rank -> hue of the jobs that are seen."""
    legend: tuple[tuple[int, str], ...]
    """(hue, what it stands for)"""
    workload: Workload
    start: NDArray[np.float64]
    """rank -> first start, nan if it is not known; what lies after `clock` is not to be told."""
    end: NDArray[np.float64]
    """rank -> completion, likewise."""
    pending: bool = False
    """Are there columns that have not been drawn yet?"""
