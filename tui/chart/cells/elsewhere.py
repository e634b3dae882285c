"""The selected job where it is out of sight: an arrow at the edge tells on which side it is, and when it starts."""

from __future__ import annotations

import numpy as np

from sim.words import clock, name
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Grid
from tui.chart.scene import ChartScene
from tui.look.palette import Hue, Tone, ink


def draw_elsewhere(area: Cells, grid: Grid, planned: float | None) -> None:
    """An arrow in the top row, if the selected job lies wholly left or right of what is shown."""
    rank, chart = grid.selected, grid.chart
    if rank is None or np.any(grid.upper.rank == rank) or np.any(grid.lower.rank == rank):
        return
    lasts = _lasts(chart, rank, planned)
    if lasts is None:
        return
    told = f"{name(chart.workload.jobs[rank])} {clock(lasts[0]).rpartition(':')[0]}"
    left, right = "<>" if grid.look.ascii else "◂▸"
    accent = ink(Hue.ACCENT, Tone.STRONG)
    if lasts[1] <= chart.view.start:
        area.write(0, 0, f"{left} {told} ", accent, BLANK)
    elif lasts[0] >= chart.view.end:
        area.write(0, max(grid.size.columns - len(told) - 3, 0), f" {told} {right}", accent, BLANK)


def _lasts(chart: ChartScene, rank: int, planned: float | None) -> tuple[float, float] | None:
    """From when until when there is a bar of the job; None: there is none yet."""
    start, end = float(chart.start[rank]), float(chart.end[rank])
    if start <= chart.clock:
        ahead = max((box.end for box in chart.plan if box.rank == rank), default=chart.clock)
        return start, end if end <= chart.clock else max(ahead, chart.clock)
    return None if planned is None else (planned, planned + chart.workload.jobs[rank].estimate)
