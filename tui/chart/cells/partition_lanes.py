"""Partitions as lanes: the lines between them, which step as boundaries move, and what each has now."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Grid
from tui.chart.colours import partition_hue
from tui.chart.owners import Band, ByOwner
from tui.look import text
from tui.look.palette import Hue, Tone, ink

_LINE = ink(Hue.GREY, Tone.STRONG)
_STEPS = 6
"""Columns for each step that an upright line joins; more steps would hide the jobs."""


class _Line(NamedTuple):
    """A line between two partitions in some columns; `row` is a row of pixels."""

    row: int
    columns: slice


def draw_lane_lines(area: Cells, grid: Grid) -> None:
    """Draw a line between neighbouring partitions; at steps an upright line joins its parts."""
    by_owner, columns = grid.chart.by_owner, grid.size.columns
    if by_owner is None:
        return
    for border in range(len(by_owner.division) - 1):
        lines = [line for line in _lines(grid, by_owner, border) if line.columns.start < columns]
        for line in lines:
            _draw_line(area, grid, line)
        if len(lines) * _STEPS <= columns:
            for one, other in pairwise(lines):
                _join(area, grid, one.row, other)


def _lines(grid: Grid, by_owner: ByOwner, border: int) -> Iterator[_Line]:
    """Yield the line above a partition, as far as it is in sight."""
    view = grid.chart.view
    for columns, order in by_owner.runs(view.columns):
        if border < len(order.borders):
            low, end = order.borders[border]
            place = (low + end) // 2
            if view.low <= place < view.high and (rows := view.rows_of(place)):
                row = rows.start + len(rows) // 2
                yield _Line(row * grid.size.rows * grid.folds // view.rows, columns)


def _draw_line(area: Cells, grid: Grid, line: _Line) -> None:
    row, half = divmod(line.row, grid.folds)
    at = row, line.columns
    if grid.look.patterned:
        area.chars[at] = ord("=" if grid.look.ascii else "━")
    else:
        area.chars[at] = ord("▄" if half else "▀")
        area.bg[at] = grid.upper.ink[at] if half else grid.lower.ink[at]
    area.fg[at] = _LINE


def _join(area: Cells, grid: Grid, row: int, line: _Line) -> None:
    """Draw the upright line between the rows before and after a step."""
    first, last = sorted((row // grid.folds, line.row // grid.folds))
    at = slice(first + 1, last), line.columns.start
    area.chars[at] = ord("|" if grid.look.ascii else "│" if grid.look.patterned else "▏")
    area.fg[at] = _LINE


def draw_lane_names(area: Cells, grid: Grid) -> None:
    """Draw each partition's name and current processors at the right edge, where they hide least."""
    by_owner = grid.chart.by_owner
    if by_owner is None:
        return
    room = grid.size.columns - max(grid.now + 2 if grid.has_now else 0, 0)
    taken: set[int] = set()
    for number, (band, name) in enumerate(
        zip(by_owner.bands(grid.size.columns - 1), grid.chart.lane_names, strict=False)
    ):
        told = next((told for told in _said(name, band) if len(told) <= room), "")
        told = text.plain(told) if grid.look.ascii else told
        rows = [row for row in _rows(grid, band) if row not in taken]
        if told and rows:
            begin = grid.size.columns - len(told)
            held = (grid.upper.rank[rows, begin:] >= 0) | (grid.lower.rank[rows, begin:] >= 0)
            middle = np.abs(np.array(rows) - (rows[0] + rows[-1]) / 2)
            row = rows[int(np.lexsort((middle, held.sum(axis=1)))[0])]
            area.write(row, begin, told, ink(partition_hue(number), Tone.STRONG), BLANK)
            taken.add(row)


def _said(name: str, band: Band) -> Iterator[str]:
    """Yield the name with what the partition has, the longest first."""
    short = name.split(" ")[0]
    most, *less = band.told
    for called in (name, short):
        yield from (f" {called}: {told} " for told in (most, *less[:-1]))
    yield from (f" {called}: {band.owns:,} " for called in (name, short))
    yield f" {short} "


def _rows(grid: Grid, band: Band) -> list[int]:
    """Return the rows of cells in which a partition is, from the top."""
    view = grid.chart.view
    low, high = max(band.low, view.low), min(band.low + max(band.owns, 1), view.high)
    if low >= high:
        return []
    scale = grid.size.rows / view.rows
    top, bottom = view.rows_of(high - 1).start, view.rows_of(low).stop
    return list(range(int(top * scale), max(int(bottom * scale), int(top * scale) + 1)))


def lane_sizes(grid: Grid) -> Iterator[tuple[int, int]]:
    """Yield (row, processors) of each partition at the left edge."""
    assert grid.chart.by_owner is not None
    for band in grid.chart.by_owner.bands(0):
        if rows := _rows(grid, band):
            yield rows[len(rows) // 2], band.owns
