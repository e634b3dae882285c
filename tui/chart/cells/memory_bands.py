"""Bands above the nodes of a chart, with a curve of how much of each node's memory is in use."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import Grid
from tui.chart.cells.partition_lanes import bars_of_all, draw_row
from tui.chart.scene import MEMORY
from tui.look.palette import Hue, Tone, ink

_BLOCKS, _LETTERS = " ▁▂▃▄▅▆▇█", " _.:-=+*#"
"""Character, in Unicode and ASCII, of each number of eighths of memory in use."""
_TONES = (Tone.GROUND, *(2 * (Tone.QUARTER,)), *(2 * (Tone.HALF,)), *(2 * (Tone.MOST,)), *(2 * (Tone.FULL,)))
"""For each number of eighths: its tone in a band that is too thin for a curve"""


def draw_memory(area: Cells, grid: Grid) -> None:
    """Draw the band above each visible node: a curve or, where a band is thinner than a character, a colour."""
    by_owner, levels = grid.chart.by_owner, grid.chart.memory
    if by_owner is None or levels is None:
        return
    signs = np.array([ord(sign) for sign in (_LETTERS if grid.look.ascii else _BLOCKS)], np.uint32)
    tones = np.array([ink(Hue.COOL, tone) for tone in _TONES], np.uint16)
    for number, parts in enumerate(bars_of_all(grid, by_owner)):
        for bar in parts:
            columns = slice(bar.first, bar.end)
            level = levels[number, columns]
            rows = Counter(row // grid.folds for row in bar.rows)
            whole = [cell for cell, many in rows.items() if many == grid.folds]
            if not whole:
                colours = np.where(level < 0, grid.upper.ground[bar.rows[-1] // grid.folds, columns], tones[level])
                draw_row(area, grid, bar.rows[-1], columns, colours)
                continue
            at = whole[-1], columns
            area.chars[at] = np.where(level < 0, ord(" "), signs[level])
            area.fg[at] = ink(Hue.COOL, Tone.FULL)
            if not grid.look.patterned:
                area.bg[at] = np.where(level < 0, area.bg[at], ink(Hue.GREY, Tone.GROUND))


def name_memory(cells: Cells, grid: Grid, right: int) -> None:
    """Write the bands' name left of the highest one without a label, so that it ends before `right`."""
    by_owner = grid.chart.by_owner
    if by_owner is None or grid.chart.memory is None:
        return
    bars = [bar for parts in bars_of_all(grid, by_owner) for bar in parts]
    for row in sorted({row // grid.folds for bar in bars for row in bar.rows}):
        if row < grid.size.rows and (cells.chars[row, :right] == ord(" ")).all():
            cells.write(row, right - len(MEMORY), MEMORY, ink(Hue.COOL))
            break
