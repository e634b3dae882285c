"""What is around the chart: processors and partitions at its left, times at its bottom."""

from __future__ import annotations

import numpy as np

from tui.chart.cells.axis import processor_ticks, time_axis
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Grid
from tui.chart.colours import partition_hue
from tui.look.palette import Hue, Tone, ink

_QUIET = ink(Hue.GREY, Tone.STRONG)
_LINE = ink(Hue.GREY, Tone.HALF)


def draw_edges(cells: Cells, grid: Grid, left: int) -> None:
    """Around a chart that begins in column `left`."""
    _draw_processors(cells, grid, left)
    if grid.chart.owners is not None:
        _draw_owners(cells, grid, left - 1)
    _draw_times(cells, grid, left)


def _draw_processors(cells: Cells, grid: Grid, left: int) -> None:
    rows, view = grid.size.rows, grid.chart.view
    cells.chars[:rows, left - 1] = ord("|" if grid.look.ascii else "▕")
    cells.fg[:rows, left - 1] = _LINE
    for row, label in processor_ticks(view, max(round(view.rows / rows), 1)):
        if row < rows:
            cells.write(row, left - 1 - len(label), label, _QUIET)


def _draw_owners(cells: Cells, grid: Grid, column: int) -> None:
    """A band of colour, or letters, that say which partition owns the processors now."""
    owners = grid.chart.owners
    assert owners is not None
    now = min(max(grid.now, 0), owners.shape[1] - 1)
    shown = grid.stretched(owners, np.full((1, owners.shape[1]), -1, np.int8))
    for row, owner in enumerate(shown[:: grid.folds, min(now, grid.size.columns - 1)].tolist()):
        if owner >= 0:
            cells.chars[row, column] = ord("▐") if grid.look.colour else ord("a") + owner % 26
            cells.fg[row, column] = ink(partition_hue(owner), Tone.STRONG) if grid.look.colour else BLANK


def _draw_times(cells: Cells, grid: Grid, left: int) -> None:
    rows = grid.size.rows
    line, times = time_axis(grid.chart.view, grid.chart.clock, grid.look.ascii)
    cells.write(rows, left - 1, ("+" if grid.look.ascii else "└") + line, _LINE)
    cells.write(rows + 1, left, times, _QUIET)
    if grid.has_now:
        cells.write(rows, left + grid.now, line[grid.now : grid.now + 4], ink(Hue.ACCENT, Tone.STRONG))
