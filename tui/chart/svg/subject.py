"""What a picture is of: everything that the drawing functions are told, immutable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.history.history import Past
from sim.workload.model import Workload
from tui.chart.chronicle import Chronicle
from tui.chart.scene import Box, Mark


@dataclass(frozen=True)
class Subject:
    """A run as far as `now`, seen from `begin` until `end`; what is right of now is planned."""

    workload: Workload
    policy: str
    history: Past
    chronicle: Chronicle
    """Read as far as now."""
    begin: float
    now: float
    end: float
    hues: NDArray[np.uint8]
    """rank -> hue (see `tui.look.palette`)."""
    plan: tuple[Box, ...] = ()
    marks: tuple[Mark, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    """(hue, what it stands for)."""
    turn: float | None = None
    """For how long a row of the matrix is on turn, where rows take turns."""
    column: float = 1.0
    """Seconds of a column that shows one row alone, where turns are shorter than it."""
    queues: tuple[str, ...] = ()
    """The names of the partitions, where there are several."""
