"""Lines about jobs: around what is planned, and between neighbours of one colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Bools, Grid
from tui.chart.raster import Texture
from tui.look.palette import TONES, Tone

_TOP, _BOTTOM, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = " ── │┌└ │┐┘ │   "
"""The line upon a cell at whose sides its job ends, by their sum; a job in one row has no room for lines."""
_PLAIN = " -- |++ |++ |   "


def draw_outlines(area: Cells, grid: Grid) -> None:
    """What is planned stands in a frame of its own colour; a thin gap parts neighbours of one colour."""
    _frame_planned(area, grid)
    if not grid.look.patterned:
        _part_alike(area, grid)


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
    if not grid.look.patterned and not grid.dims:
        area.fg[at] = up.hue[at] * TONES + Tone.FULL


def _sides(rank: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The sides of each cell beyond which there is another job."""
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
    """Beside a job in the very same ink, above it, or within a cell."""
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
