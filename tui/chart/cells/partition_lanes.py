"""Partitions as lanes of the chart, with a bar above each that has its name and size, and moves when sizes change. On a
machine whose nodes have memory, there are bands above the nodes with curves of the memory in use instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Bools, Grid
from tui.chart.colours import partition_hue
from tui.chart.owners import ROOMY, Band, ByOwner, Order
from tui.chart.partition_names import LaneName
from tui.chart.scene import MEMORY
from tui.look import text
from tui.look.palette import TONES, Hue, Tone, ink

BAR = ink(Hue.NONE, Tone.TEXT)
"""Ink of bars in a look where jobs differ by characters, not by colours."""
_STEPS = 6
"""Smallest mean distance in columns between changes of a bar's height at which lines join its parts."""
_THICKEST = 3


def name_ink(grid: Grid, number: int) -> int:
    """Return the ink (number of a colour) of a partition's bar and name; no job has this ink."""
    names = grid.chart.lane_names
    place = names[number].place if number < len(names) else None
    return BAR if grid.look.patterned else ink(partition_hue(number if place is None else place), Tone.NAME)


def bars(area: Cells) -> Bools:
    hue, tone = np.divmod(area.fg, TONES)
    return np.asarray((area.fg == BAR) | ((tone == Tone.NAME) & (hue >= Hue.PART) & (hue < Hue.ONE)))


class _Bar(NamedTuple):
    """Part of a partition's bar in the columns in which it stays at one height."""

    rows: range
    first: int
    end: int
    band: Band


def draw_lane_bars(area: Cells, grid: Grid) -> None:
    by_owner = grid.chart.by_owner
    if by_owner is None or grid.chart.memory is not None:
        return
    for number, parts in enumerate(bars_of_all(grid, by_owner)):
        colour = name_ink(grid, number)
        for bar in parts:
            for row in bar.rows:
                draw_row(area, grid, row, slice(bar.first, bar.end), colour)
        if len(parts) * _STEPS <= grid.size.columns:
            for one, other in pairwise(parts):
                _join(area, grid, one, other, colour)


def lane_rows(grid: Grid) -> list[int | None]:
    """Return the row of cells in which each partition's bar begins at the left; None if it is not visible there."""
    by_owner = grid.chart.by_owner
    if by_owner is None:
        return []
    firsts = [parts[0] if parts else None for parts in bars_of_all(grid, by_owner)]
    return [_row_for(grid, bar, 1, len(f"{bar.band.owns:,}")) if bar and not bar.first else None for bar in firsts]


def bars_of_all(grid: Grid, by_owner: ByOwner) -> list[list[_Bar]]:
    return [_bars(grid, by_owner, number) for number in range(len(by_owner.division))]


def _bars(grid: Grid, by_owner: ByOwner, number: int) -> list[_Bar]:
    bars: list[_Bar] = []
    for columns, order in by_owner.runs(grid.chart.view.columns):
        end = min(columns.stop, grid.size.columns)
        if number >= len(order.borders) or columns.start >= end or not (rows := _rows_above(grid, order, number)):
            continue
        band = by_owner.bands(order)[number]
        if bars and bars[-1].end == columns.start and (bars[-1].rows, bars[-1].band) == (rows, band):
            bars[-1] = bars[-1]._replace(end=end)
        else:
            bars.append(_Bar(rows, columns.start, end, band))
    return bars


def _rows_above(grid: Grid, order: Order, number: int) -> range:
    """Return the rows of pixels of a partition's bar, at most `_THICKEST`; whole cells where possible."""
    view, drawn = grid.chart.view, grid.size.rows * grid.folds
    low, end = order.borders[number]
    seen = [view.rows_of(place) for place in range(max(low, view.low), min(end, view.high))]
    found = [row * drawn // view.rows for rows in seen for row in rows]
    if not found:
        return range(0)
    first, last = min(found), max(found)
    is_roomy = view.high - view.low <= drawn
    if last - first < _THICKEST and is_roomy:
        return range(first, last + 1)
    thick = min(last - first + 1, grid.folds if drawn >= ROOMY * len(order.owners) else 1)
    starts = range(first, last - thick + 2)
    start = min(starts, key=lambda row: (row % grid.folds, abs(2 * row + thick - 1 - first - last)))
    return range(start, start + thick)


def draw_row(area: Cells, grid: Grid, row: int, columns: slice, colour: int | NDArray[np.uint16]) -> None:
    cell, half = divmod(row, grid.folds)
    at = cell, columns
    if grid.look.patterned:
        area.chars[at] = ord("=" if grid.look.ascii else "━")
    else:
        is_whole = area.fg[at] == colour
        is_whole &= area.chars[at] == ord("▀")
        area.chars[at] = np.where(is_whole, ord("█"), ord("▄" if half else "▀"))
        area.bg[at] = np.where(is_whole, colour, grid.upper.ink[at] if half else grid.lower.ink[at])
    area.fg[at] = colour


def _join(area: Cells, grid: Grid, one: _Bar, other: _Bar, colour: int) -> None:
    upper, lower = sorted((one.rows, other.rows), key=lambda rows: rows.start)
    at = slice(upper.stop // grid.folds, -(-lower.start // grid.folds)), other.first
    area.chars[at] = ord("|" if grid.look.ascii else "┃" if grid.look.patterned else "▌")
    area.fg[at] = colour


def draw_lane_names(area: Cells, grid: Grid) -> None:
    """Write names and sizes on bars: in words right of now, earlier sizes on earlier parts."""
    by_owner = grid.chart.by_owner
    if by_owner is None or grid.chart.memory is not None:
        return
    begin = max(grid.now + 1 if grid.has_now else 0, 0)
    names = grid.chart.lane_names
    taken: set[int] = set()  # rows with the name of a lower lane, as at the left of the chart
    for number, parts in enumerate(bars_of_all(grid, by_owner)):
        name = names[number] if number < len(names) else LaneName("", "")
        if not parts:
            _name_inside(area, grid, by_owner, number, name)
            continue
        last = parts[-1]
        room = range(max(last.first, begin), last.end)
        told = _fitting(grid, name.told(last.band), len(room) - 2)
        if not told and last.first < min(begin, last.end):  # no room right of now
            room = range(last.first, min(begin - 1, last.end))
            told = _fitting(grid, name.told(last.band), len(room) - 2)
        if told and (row := _row_for(grid, last, room.start + 1, len(told))) not in taken:
            taken.add(row)
            _write(area, grid, last, room.start + 1, told, number)
        _write_sizes(area, grid, parts, number, name)


def _write_sizes(area: Cells, grid: Grid, parts: Sequence[_Bar], number: int, name: LaneName) -> None:
    for bar in parts[:-1]:
        end = min(bar.end, grid.now) if grid.has_now and bar.first < grid.now else bar.end
        said = (*([f"{name.name}: {bar.band.owns:,}"] if bar.first else []), f"{bar.band.owns:,}")
        if told := _fitting(grid, said, end - bar.first - 2):
            _write(area, grid, bar, bar.first + 1, told, number)


def _write(area: Cells, grid: Grid, bar: _Bar, column: int, told: str, number: int) -> None:
    """Write a text on a bar from `column` on, in the row of cells where it hides the fewest jobs."""
    cell, colour = _row_for(grid, bar, column, len(told)), name_ink(grid, number)
    if grid.look.patterned:
        area.write(cell, column - 1, f" {told} "[: bar.end - column + 1], colour, BLANK)
    else:
        area.write(cell, column - 1, f" {told} ", BLANK, colour)


def _row_for(grid: Grid, bar: _Bar, column: int, length: int) -> int:
    cells = sorted({row // grid.folds for row in bar.rows})
    over = slice(column - 1, column + length + 1)
    hidden = [
        int(np.count_nonzero((grid.upper.rank[cell, over] >= 0) | (grid.lower.rank[cell, over] >= 0))) for cell in cells
    ]
    return cells[hidden.index(min(hidden))]


def _name_inside(area: Cells, grid: Grid, by_owner: ByOwner, number: int, name: LaneName) -> None:
    """Write a partition's name and size at the right inside its lane: its bar is not visible."""
    bands = by_owner.bands(by_owner.of(grid.size.columns - 1))
    rows = _rows(grid, bands[number]) if number < len(bands) else []
    room = grid.size.columns - max(grid.now + 2 if grid.has_now else 0, 0)
    if rows and (told := _fitting(grid, name.told(bands[number]), room - 2)):
        area.write(rows[0], grid.size.columns - len(told) - 2, f" {told} ", name_ink(grid, number), BLANK)


def _fitting(grid: Grid, said: Iterator[str] | Sequence[str], room: int) -> str:
    """Return the first text that fits into `room` columns, in ASCII if needed; "" if none fits."""
    plain = (text.plain(told) if grid.look.ascii else told for told in said)
    return next((told for told in plain if len(told) <= room), "")


def _rows(grid: Grid, band: Band) -> list[int]:
    view = grid.chart.view
    low, high = max(band.low, view.low), min(band.low + max(band.owns, 1), view.high)
    if low >= high:
        return []
    scale = grid.size.rows / view.rows
    top, bottom = view.rows_of(high - 1).start, view.rows_of(low).stop
    return list(range(int(top * scale), max(int(bottom * scale), int(top * scale) + 1)))


# Memory of nodes

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
