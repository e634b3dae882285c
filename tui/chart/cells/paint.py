"""Painting of a chart at one time as a picture of cells, in which jobs differ by colour or by characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tui.chart.cells.cells import TEXT_ON, Cells
from tui.chart.cells.edges import ROWS, draw_edges, draw_top, margin_of
from tui.chart.cells.grid import EIGHTHS, Bools, Grid, Size, places
from tui.chart.cells.outlines import draw_outlines, draw_reserved
from tui.chart.cells.overlays import draw_names_and_now, draw_signs
from tui.chart.cells.partition_lanes import draw_lane_bars
from tui.chart.raster import UNKNOWN, Texture
from tui.chart.scene import ChartScene
from tui.look.palette import TONES, Hue, Look, Tone, ink

_LETTERS = "ABCDEFGHIJKLabcdefghijkl123456#.|o-+~"
"""ASCII character of each hue's cells without colours: letters for jobs, digits for steps of a scale."""
_BLOCKS = 2 * "█▓▚▀▌▞▄▐▙▜▛▟" + "123456◆ │▪-+▫"
"""Character of each hue's cells without colours; first patterns for the twelve hues of jobs."""


_PARTS = np.array([ord(part) for part in " ▏▎▍▌▋▊▉"], np.uint32)
"""Block characters that fill 0 to 7 eighths of a cell, from the left; the index is the number of eighths."""


class _Edge(NamedTuple):
    """Pixels where jobs begin or end; `gone` where a job fills less than half."""

    ink: NDArray[np.uint16]
    eighths: NDArray[np.int8]
    gone: Bools


class _Signs(NamedTuple):
    """Characters (Unicode, ASCII) and tones by texture; a trail (of a suspended job) has no background of its own."""

    char: NDArray[np.uint32]
    plain: NDArray[np.uint32]
    fg: NDArray[np.uint16]
    bg: NDArray[np.uint16]


_SIGNS = _Signs(
    np.array([*map(ord, " ▒▚╱╱░░")], np.uint32),
    np.array([*map(ord, " ~%//--")], np.uint32),
    np.array([0, Tone.FULL, Tone.FULL, Tone.HALF, Tone.MOST, Tone.HALF, Tone.HALF], np.uint16),
    np.array([0, Tone.QUARTER, Tone.QUARTER, 0, Tone.HALF, Tone.PLAN, Tone.PLAN], np.uint16),
)


def chart_size(size: Size, procs: int, labels: Sequence[str] = ()) -> Size:
    return Size(max(size.columns - margin_of(procs, labels), 1), max(size.rows - ROWS, 1))


def paint(
    chart: ChartScene, look: Look, size: Size, selected: int | None = None, planned: float | None = None
) -> Cells:
    """Return the picture with overlays and axes; `planned` is the selected job's planned start."""
    cells = Cells.blank(size.rows, size.columns)
    left = margin_of(chart.workload.procs, chart.labels)
    inner = chart_size(size, chart.workload.procs, chart.labels)
    if size.columns <= left:
        return cells
    inner = Size(min(inner.columns, chart.view.columns), inner.rows)
    area = cells.part(slice(0, inner.rows), slice(left, left + inner.columns))
    grid = Grid(chart, look, inner, selected)
    _draw_jobs(area, grid)
    draw_top(area, grid)
    draw_signs(area, grid, planned)
    draw_edges(cells, grid, left)
    return cells


def sketch(chart: ChartScene, look: Look, size: Size) -> Cells:
    cells = Cells.blank(size.rows, size.columns)
    grid = Grid(chart, look, Size(min(size.columns, chart.view.columns), size.rows), None)
    area = cells.part(slice(None), slice(grid.size.columns))
    _draw_jobs(area, grid)
    draw_top(area, grid, is_small=True)
    draw_lane_bars(area, grid)
    draw_names_and_now(area, grid)
    return cells


def _draw_jobs(area: Cells, grid: Grid) -> None:
    _fill(area, grid)
    _texture(area, grid)
    draw_outlines(area, grid)
    _borrowed(area, grid)
    _paint_useless(area, grid)
    _missing(area, grid)
    draw_reserved(area, grid)


def sign_of(hue: int, look: Look) -> str:
    return (_LETTERS if look.ascii else _BLOCKS)[hue]


def _fill(area: Cells, grid: Grid) -> None:
    """Draw each cell in the inks of its pixels; begins and ends of jobs are exact to an eighth of a column."""
    up, low = grid.upper, grid.lower
    top, bottom = np.where(up.gone, up.ground, up.ink), np.where(low.gone, low.ground, low.ink)
    area.fg[:] = top
    if not grid.look.patterned:
        area.bg[:] = bottom
        area.chars[:] = np.where(top == bottom, ord(" "), ord("▀"))
        _paint_partial(area, grid)
    else:
        signs = np.array([ord(c) for c in (_LETTERS if grid.look.ascii else _BLOCKS)], np.uint32)
        area.chars[:] = np.where(up.gone, ord("." if grid.look.ascii else " "), signs[up.hue])
    unknown = grid.upper.rank == UNKNOWN
    area.chars[unknown] = ord(":" if grid.look.ascii else "·")
    area.fg[unknown] = ink(Hue.GREY, Tone.QUARTER)


def _paint_partial(area: Cells, grid: Grid) -> None:
    """Draw cells in which jobs begin and end: in eighths if both pixels are the same, else in halves."""
    up, low = grid.upper, grid.lower
    at = places((up.eighths != 0) | (low.eighths != 0))
    above, below = (_Edge(side.ink[at], side.eighths[at], side.gone[at]) for side in (up, low))
    ground = up.ground[at]
    chars, fg, bg = area.chars[at], area.fg[at], area.bg[at]
    is_whole = (above.ink == below.ink) & (above.eighths == below.eighths) & (up.texture[at] == Texture.SOLID)
    chars[is_whole] = _PARTS[above.eighths[is_whole] % EIGHTHS]
    fg[is_whole] = np.where(above.eighths > 0, above.ink, ground)[is_whole]
    bg[is_whole] = np.where(above.eighths > 0, ground, above.ink)[is_whole]
    for one, other, signs in ((above, below, "▘▝"), (below, above, "▖▗")):
        is_half = (np.abs(2 * one.eighths - np.sign(one.eighths) * EIGHTHS) <= 2) & (one.ink != other.ink)
        is_half &= (other.ink == ground) | other.gone
        chars[is_half] = np.where(one.eighths > 0, *map(ord, signs))[is_half]
        fg[is_half], bg[is_half] = one.ink[is_half], ground[is_half]
    area.chars[at], area.fg[at], area.bg[at] = chars, fg, bg


def _texture(area: Cells, grid: Grid) -> None:
    """Draw textures where both pixels have one job, and trails of suspended jobs where no other runs."""
    up, low, look, others = grid.upper, grid.lower, grid.look, grid.dims
    above, below = up.texture == Texture.TRAIL, low.texture == Texture.TRAIL
    trail = (above & (below | (low.rank < 0))) | (below & (up.rank < 0))
    alone = (up.rank == low.rank) & (up.texture == low.texture) & ~up.gone & ~low.gone
    texture = np.where(trail, np.uint8(Texture.TRAIL), np.where(alone, up.texture, np.uint8(Texture.SOLID)))
    at = places(texture != Texture.SOLID)
    if not len(at[0]):
        return
    texture, lit = texture[at], up.lit[at] | low.lit[at]
    hue = np.where((texture == Texture.TRAIL) & ~above[at], low.hue[at], up.hue[at]) * TONES
    area.chars[at] = _SIGNS.plain[texture] if look.ascii else _SIGNS.char[texture]
    if look.patterned:
        area.fg[at] = hue + np.where(lit & others, Tone.STRONG, Tone.DIMMED if others else Tone.HALF)
        return
    area.fg[at] = hue + np.where(lit, Tone.STRONG, _SIGNS.fg[texture])
    area.bg[at] = np.where(texture == Texture.TRAIL, up.ground[at], hue + _SIGNS.bg[texture])


def _borrowed(area: Cells, grid: Grid) -> None:
    """Draw dots on processors that a partition has borrowed from another, whether they are busy or free."""
    if grid.chart.homes is None:
        return
    blank, hatched = (ord("."), ord("-")) if grid.look.ascii else (ord(" "), ord("░"))
    at = grid.upper.is_borrowed & ((area.chars == blank) | (area.chars == hatched))
    rows, columns = np.nonzero(at)
    apart = np.where(area.chars[at] == blank, 2, 4)  # fewer where it is hatched
    is_dotted = (columns + rows * apart // 2) % apart == 0
    dotted = rows, columns = rows[is_dotted], columns[is_dotted]
    area.chars[dotted] = ord(":" if grid.look.ascii else "·")
    if not grid.look.patterned:
        inks = grid.upper.ink[dotted]
        is_held = grid.upper.rank[dotted] >= 0
        area.fg[dotted] = np.where(is_held, TEXT_ON[inks], inks // TONES * TONES + Tone.FULL)


def _paint_useless(area: Cells, grid: Grid) -> None:
    """Draw free cores that no waiting job can use: with dots on a grey ground."""
    if grid.chart.useless is None:
        return
    up, low = grid.upper, grid.lower
    both = up.useless & low.useless
    rows, columns = np.nonzero(both)
    dotted = (columns + rows) % 2 == 0
    area.chars[rows[dotted], columns[dotted]] = ord("," if grid.look.ascii else "·")
    area.fg[both] = ink(Hue.GREY, Tone.HALF)
    if grid.look.patterned:
        return
    area.bg[both] = ink(Hue.GREY, Tone.GROUND)
    upper, lower = up.useless & ~low.useless, low.useless & ~up.useless
    area.fg[upper & (area.chars == ord("▀"))] = ink(Hue.GREY, Tone.GROUND)
    area.bg[lower & (area.chars == ord("▀"))] = ink(Hue.GREY, Tone.GROUND)


def _missing(area: Cells, grid: Grid) -> None:
    if grid.chart.missing is None:
        return
    at = grid.upper.missing & (grid.lower.missing | (grid.lower.rank < 0))
    at |= grid.lower.missing & (grid.upper.rank < 0)
    area.chars[at] = ord("x" if grid.look.ascii else "╳")
    area.fg[at] = ink(Hue.GREY, Tone.HALF)
    area.bg[at] = grid.upper.ground[at]
