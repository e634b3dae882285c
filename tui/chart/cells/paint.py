"""Painting of a chart at one time as a picture of cells, in which jobs differ by colour or by characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.machine.processors import ranges
from sim.support.formatting import printable
from tui.chart.cells.cells import TEXT_ON, Cells, one_a_cell
from tui.chart.cells.edges import ROWS, draw_edges, draw_top, margin_of
from tui.chart.cells.grid import BLANK, EIGHTHS, Bools, Grid, Layer, Places, Size, places
from tui.chart.cells.overlays import draw_names_and_now, draw_signs
from tui.chart.cells.partition_lanes import draw_lane_bars
from tui.chart.raster import UNKNOWN, Texture
from tui.chart.scene import ChartScene, Outline
from tui.look.palette import HUES, TONES, Hue, Look, Tone, ink
from tui.look.text import shorten

_LETTERS = "ABCDEFGHIJKLabcdefghijkl123456#.|o-+~123456"
"""ASCII character of each hue's cells without colours: letters for jobs, digits for steps of a scale and partitions."""
_BLOCKS = 2 * "█▓▚▀▌▞▄▐▙▜▛▟" + "123456◆ │▪-+▫123456"
"""Character of each hue's cells without colours; first patterns for the twelve hues of jobs."""


_PARTS = np.array([ord(part) for part in " ▏▎▍▌▋▊▉"], np.uint32)
"""Block characters that fill 0 to 7 eighths of a cell, from the left; the index is the number of eighths."""
_QUARTERS = np.array([ord(part) for part in "▘▚▌▙▀▜▛ "], np.uint32)
"""Block characters that fill the upper left quarter of a cell, and with 4, 2, 1 in the index: the others, by rows"""
_IS_GROUND = np.isin(np.arange(HUES * TONES) % TONES, Tone.GROUND) | (np.arange(HUES * TONES) // TONES == Hue.NONE)
"""For each ink: True if no job has it."""


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
    """Draw cells in which jobs begin and end: in eighths if both pixels are the same, else in quarters, or in halves if
    quarters would need three colours. All cells at one edge of a job are equally exact, so its block is a rectangle.
    """
    up, low = grid.upper, grid.lower
    at = places((up.eighths != 0) | (low.eighths != 0))
    left, right, split = (np.stack(both) for both in zip(_parts_of(up, at), _parts_of(low, at), strict=True))
    inks = np.concatenate([left, right])
    rough = _edges_of((left[0] != left[1]) | (right[0] != right[1]) | (split[0] != split[1]), at[1], inks)
    near = (split + 2) // 4 * 4
    quarters = np.stack([np.where(near >= half, left, right) for half in (EIGHTHS // 2, EIGHTHS)], axis=1).reshape(
        4, -1
    )
    others = np.where(quarters == quarters[0], -1, quarters.astype(np.int32))
    other = others.max(axis=0)
    whole = _edges_of(rough & ((others >= 0) & (others != other)).any(axis=0), at[1], inks)
    halves = np.where(split >= EIGHTHS // 2, left, right)
    quarters[:, whole] = np.repeat(halves[:, whole], 2, axis=0)
    other = np.where(whole, halves[1], np.where(other >= 0, other, quarters[0]))
    rough |= whole
    signs = _QUARTERS[np.array([4, 2, 1]) @ (quarters[1:] == quarters[0])]
    area.chars[at] = np.where(rough, signs, _PARTS[split[0] % EIGHTHS])
    area.fg[at] = np.where(rough, quarters[0], left[0])
    area.bg[at] = np.where(rough, other, right[0])


def _edges_of(these: Bools, columns: NDArray[np.intp], inks: NDArray[np.uint16]) -> Bools:
    """Return these cells, and all others in the same column with one of their jobs (by ink)."""
    marked = np.zeros((columns.max(initial=0) + 1, HUES * TONES), np.bool_)
    for _ in range(2):  # jobs, then their neighbours
        marked[columns[these], inks[:, these]] = True
        marked[:, _IS_GROUND] = False
        these = these | marked[columns, inks].any(axis=0)
    return these


def _parts_of(side: Layer, at: Places) -> tuple[NDArray[Any], ...]:
    """Return the inks at the left and right of pixels, and the eighths of the width that the left one has."""
    part, own, beside = side.eighths[at], side.ink[at], side.beside[at]
    beside = np.where(part == 0, np.where(side.gone[at], side.ground[at], own), beside)
    return np.where(part > 0, own, beside), np.where(part > 0, beside, own), np.where(part > 0, part, EIGHTHS + part)


def _texture(area: Cells, grid: Grid) -> None:
    """Draw textures where both pixels have one job, and trails of suspended jobs where no other runs."""
    up, low, look, others = grid.upper, grid.lower, grid.look, grid.dims
    above, below = up.texture == Texture.TRAIL, low.texture == Texture.TRAIL
    trail = (above & (below | (low.rank < 0))) | (below & (up.rank < 0))
    alone = (up.rank == low.rank) & (up.texture == low.texture) & ~(up.gone | low.gone)
    alone &= (up.eighths == 0) & (low.eighths == 0)
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


# Outlines.

_TOP, _BOTTOM, _LEFT, _RIGHT = 1, 2, 4, 8
_LINES = " ── │┌└ │┐┘ │   ┐┌┘└"
"""Line characters by the sum of _TOP, _LEFT... for the sides of a cell that are borders of its job. From 16 on: the
border turns below left, below right, above left or above right of the cell"""
_PLAIN = " -- |++ |++ |   ++++"


def draw_outlines(area: Cells, grid: Grid) -> None:
    _frame_planned(area, grid)
    _frame_selected(area, grid)
    if not grid.look.patterned:
        _part_alike(area, grid)


def draw_reserved(area: Cells, grid: Grid) -> None:
    """Draw outlines of reservations with names where processors are free; one without a frame has only its name."""
    is_free = (grid.upper.rank < 0) & (grid.lower.rank < 0)  # and without a name
    for outline in grid.chart.outlines:
        free = np.ones_like(is_free) if outline.is_above else is_free
        view, columns = grid.chart.view, grid.size.columns
        left, right = view.column_of(outline.start), min(view.column_of(outline.end), columns)
        left, is_open = (max(left, 0), left < 0)
        for first, last in _rows_of(outline.processors, grid):
            if right - left >= 2:
                _frame(area, grid, outline, (first, last, left, right - 1), is_open, free)


def _rows_of(processors: int, grid: Grid) -> list[tuple[int, int]]:
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
    """Write the name of a reservation in the first row of its area `at` with enough free cells, not across now."""
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
    up, low = grid.upper, grid.lower
    if grid.selected is None or grid.look.patterned:
        return
    is_whole = (
        (up.rank == grid.selected) & (low.rank == grid.selected) & (area.chars == ord(" ")) & ~up.gone & ~low.gone
    )
    if not is_whole.any():
        return
    lines = np.array([ord(line) for line in _LINES], np.uint32)
    line = lines[_sides(np.where(is_whole, up.rank, -1))]
    at = is_whole & (line != ord(" "))
    area.chars[at] = line[at]
    area.fg[at] = TEXT_ON[up.ink[at]]


def _sides(rank: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return, for each cell, the index in `_LINES` of its borders with other jobs or free processors."""
    sides = np.zeros(rank.shape, np.uint8)
    rows, columns = rank[1:] != rank[:-1], rank[:, 1:] != rank[:, :-1]
    sides[0] |= _TOP
    sides[-1] |= _BOTTOM
    sides[1:][rows] |= _TOP
    sides[:-1][rows] |= _BOTTOM
    sides[:, 1:][columns] |= _LEFT
    sides[:, :-1][columns] |= _RIGHT
    beyond = np.pad(rank, 1, mode="edge")
    for code, (row, column) in enumerate(((2, 0), (2, 2), (0, 0), (0, 2)), 16):
        sides[(sides == 0) & (beyond[row:, column:][: rank.shape[0], : rank.shape[1]] != rank)] = code
    return sides


def _part_alike(area: Cells, grid: Grid) -> None:
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
