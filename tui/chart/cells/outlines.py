"""Lines around planned jobs, and between neighbouring jobs of the same colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sim.machine.processors import ranges
from sim.support.formatting import printable
from tui.chart.cells.cells import TEXT_ON, Cells, one_a_cell
from tui.chart.cells.grid import BLANK, Bools, Grid
from tui.chart.raster import Texture
from tui.chart.scene import Outline
from tui.look.palette import TONES, Hue, Tone, ink
from tui.look.text import shorten

_TOP, _BOTTOM, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = " ── │┌└ │┐┘ │   "
"""Line characters by the sum of _TOP, _LEFT... for the sides of a cell that are borders of its job"""
_PLAIN = " -- |++ |++ |   "


def draw_outlines(area: Cells, grid: Grid) -> None:
    _frame_planned(area, grid)
    _frame_selected(area, grid)
    if not grid.look.patterned:
        _part_alike(area, grid)


def draw_reserved(area: Cells, grid: Grid) -> None:
    """Draw outlines of reservations with names where processors are free; one without a frame has only its name."""
    is_free = (grid.upper.rank < 0) & (grid.lower.rank < 0)  # and without a name
    for outline in grid.chart.outlines:
        view, columns = grid.chart.view, grid.size.columns
        left, right = view.column_of(outline.start), min(view.column_of(outline.end), columns)
        left, is_open = (max(left, 0), left < 0)
        for first, last in _rows_of(outline.processors, grid):
            if right - left >= 2:
                _frame(area, grid, outline, (first, last, left, right - 1), is_open, is_free)


def _rows_of(processors: int, grid: Grid) -> list[tuple[int, int]]:
    """Return (first, last) row of cells of each visible range of neighbouring processors (bits)."""
    view = grid.chart.view
    folds = max(round(view.rows / grid.size.rows), 1)
    found = []
    for low, high in ranges(processors):
        low, high = max(low, view.low), min(high, view.high - 1)
        if low <= high:
            first, last = view.rows_of(high).start // folds, (view.rows_of(low).stop - 1) // folds
            found.append((first, min(last, grid.size.rows - 1)))
    return [(first, last) for first, last in found if first <= last]


def _frame(
    area: Cells, grid: Grid, outline: Outline, at: tuple[int, int, int, int], is_open: bool, is_free: Bools
) -> None:
    """Draw one outline where `is_free`; the cells of its name are not free any more."""
    first, last, left, right = at
    ink_of = ink(Hue.ACCENT, Tone.STRONG) if outline.is_framed else ink(Hue.GREY, Tone.STRONG)

    def put(row: int, column: int, sign: str) -> None:
        if 0 <= column < grid.size.columns and is_free[row, column]:
            area.chars[row, column], area.fg[row, column] = ord(sign), ink_of

    if outline.is_framed:
        signs = "++++-|" if grid.look.ascii else "┌┐└┘─│"
        for row in {first, last}:
            for column in range(left, right + 1):
                put(row, column, signs[4])
        for row in range(first, last + 1):
            is_corner = row in (first, last) and first != last
            if not is_open:
                put(row, left, (signs[0] if row == first else signs[2]) if is_corner else signs[5])
            put(row, right, (signs[1] if row == first else signs[3]) if is_corner else signs[5])
    _name(area, grid, outline, at, is_free)


def _name(area: Cells, grid: Grid, outline: Outline, at: tuple[int, int, int, int], is_free: Bools) -> None:
    """Write the name of a reservation once, in the first row of its area with enough free cells, but not across the
    line that marks the present time.

    `at` is the area: first row, last row, left column, right column.
    """
    first, last, left, right = at
    told = one_a_cell(f" {shorten(printable(outline.name), max(right - left - 3, 0))} ")
    fg = ink(Hue.ACCENT, Tone.STRONG) if outline.is_framed else ink(Hue.GREY, Tone.STRONG)
    if len(told) < 3:
        return
    rows = range(first, last + 1)
    for row in rows if grid.chart.memory is None else reversed(rows):  # above may be a band of memory
        for column in range(left + 1, min(right, grid.size.columns) - len(told) + 1):
            if is_free[row, column : column + len(told)].all() and not column <= grid.now < column + len(told):
                area.write(row, column, told, fg, BLANK)
                is_free[row, column : column + len(told)] = False
                return


def _frame_planned(area: Cells, grid: Grid) -> None:
    up, low = grid.upper, grid.lower
    is_planned = (up.rank == low.rank) & (up.texture == Texture.PLANNED) & (low.texture == Texture.PLANNED)
    is_planned &= ~up.gone & ~low.gone
    if not is_planned.any():
        return
    lines = np.array([ord(line) for line in (_PLAIN if grid.look.ascii else _LINES)], np.uint32)
    line = lines[_sides(np.where(is_planned, up.rank, -1))]
    at = is_planned & (line != ord(" "))
    area.chars[at] = line[at]
    if not grid.look.patterned:
        area.fg[at] = up.hue[at] * TONES + Tone.FULL


def _frame_selected(area: Cells, grid: Grid) -> None:
    """Draw lines around the part of the selected job that has run, so that it can be found without colours."""
    up, low = grid.upper, grid.lower
    if grid.selected is None or grid.look.patterned:
        return
    is_whole = (up.rank == grid.selected) & (low.rank == grid.selected) & (area.chars == ord(" "))
    if not is_whole.any():
        return
    lines = np.array([ord(line) for line in _LINES], np.uint32)
    line = lines[_sides(np.where(is_whole, up.rank, -1))]
    at = is_whole & (line != ord(" "))
    area.chars[at] = line[at]
    area.fg[at] = TEXT_ON[up.ink[at]]


def _sides(rank: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return, for each cell, the sum of _TOP, _LEFT... for the sides with another job or free processors behind."""
    sides = np.zeros(rank.shape, np.uint8)
    rows, columns = rank[1:] != rank[:-1], rank[:, 1:] != rank[:, :-1]
    sides[0] |= _TOP
    sides[-1] |= _BOTTOM
    sides[1:][rows] |= _TOP
    sides[:-1][rows] |= _BOTTOM
    sides[:, 1:][columns] |= _LEFT
    sides[:, :-1][columns] |= _RIGHT
    return sides


def _part_alike(area: Cells, grid: Grid) -> None:
    """Draw thin lines between neighbouring jobs with the same ink."""
    up, low = grid.upper, grid.lower
    is_known = up.rank >= 0
    is_one = is_known & (up.rank == low.rank) & (area.chars == ord(" "))
    left = _none_of(is_one)
    left[:, 1:] = (
        is_one[:, 1:] & is_one[:, :-1] & (up.rank[:, 1:] != up.rank[:, :-1]) & (up.ink[:, 1:] == up.ink[:, :-1])
    )
    above = _none_of(is_one)
    above[1:] = is_one[1:] & (up.rank[1:] != low.rank[:-1]) & (up.ink[1:] == low.ink[:-1])
    within = is_known & (up.rank != low.rank) & (up.ink == low.ink) & (area.chars == ord(" "))
    for at, line in ((above, "▔"), (left, "▏"), (within, "─")):
        area.chars[at] = ord(line)
        area.fg[at] = BLANK


def _none_of(like: Bools) -> Bools:
    return np.zeros(like.shape, np.bool_)
