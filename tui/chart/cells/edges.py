"""Edges of the chart: numbers of processors or names of partitions at the left, times at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import BLANK, Grid
from tui.chart.cells.partition_lanes import lane_rows, name_ink, name_memory
from tui.chart.colours import partition_hue
from tui.chart.scale import ChartView
from tui.chart.scene import MEMORY
from tui.chart.ticks import as_they_are, processors, times, unit_of
from tui.look.calendar import Calendar
from tui.look.palette import Hue, Tone, ink

ROWS = 2
"""Number of rows of the time axis below the chart."""
_GAP = 2
"""Smallest number of blanks between two labels of times."""
_APART = 10
_BY_EVENT = 14
"""Number of columns between two labels on an axis by event, so that there is space for the axis title."""
_ROWS_APART = 4
"""Approximate number of rows between two labelled processors."""
_QUIET = ink(Hue.GREY, Tone.STRONG)
_LINE = ink(Hue.GREY, Tone.HALF)


class Tick(NamedTuple):
    at: int
    """Column of a time, or row of a processor, in cells."""
    label: str


@lru_cache(8)
def time_ticks(view: ChartView, calendar: Calendar | None = None) -> tuple[Tick, ...]:
    """Return the labels of times; a label names the day unless the previous label is of the same day.

    >>> [tick.label for tick in time_ticks(ChartView(600, 141, 60, 40, 0, 9))]
    ['d1 00:00', '02:00', '04:00', '06:00', '08:00']
    """
    if view.axis.by_event:
        ends = view.first * view.per_column, (view.first + view.columns) * view.per_column
        ticks: Sequence[tuple[float, str]] = as_they_are(view.axis.named(*ends, _BY_EVENT * view.per_column), calendar)
    else:
        ticks = times(view.start, view.end, lambda label: view.per_column * max(len(label) + _GAP, _APART), calendar)
    return tuple(Tick(view.column_of(time), label) for time, label in ticks if time < view.end)


def time_axis(
    view: ChartView, now: float, ascii_only: bool = False, calendar: Calendar | None = None
) -> tuple[str, str]:
    """Return (line of the time axis with ticks, labels below the line); the time `now` is marked in the line.

    >>> line, times = time_axis(ChartView(600, 141, 40, 40, 0, 9), 1.1 * 86400)
    >>> print(line + chr(10) + times)
    ───┬───────────┬─┴now──────┬───────────┬
    d1 00:00     02:00       04:00     06:00
    """
    flat, tick, mark = ("-", "+", "^") if ascii_only else ("─", "┬", "┴")
    line, times = [flat] * view.columns, [" "] * view.columns
    free = 0
    for at, label in time_ticks(view, calendar):
        line[at] = tick
        time = label.split()[-1]
        begin = at - len(label) + (len(time) + 1) // 2
        begin = min(max(begin, 0), view.columns - len(label))
        if begin < free <= at:
            begin = free  # a little to the right, but still below its tick
        if free <= begin <= view.columns - len(label):
            times[begin : begin + len(label)] = label
            free = begin + len(label) + 1
    at = view.column_of(now)
    if 0 <= at < view.columns:
        word = f"{mark}now"[: view.columns - at]
        line[at : at + len(word)] = word
    return "".join(line), "".join(times)


def axis_titles(
    line: str, upwards: Sequence[str], across: Sequence[str], ascii_only: bool = False
) -> list[tuple[int, str]]:
    """Return (column, text) of the titles of both axes, which are written into `line`, the line of the time axis, if
    there is space.

    `upwards` and `across` have the possible titles, from the longest to the shortest.

    >>> axis_titles("───┬───────────┴now────────────┬─────", ["processors", "procs"], ["time in h:min", "h:min"])
    [(4, ' ↑ procs '), (22, ' h:min → ')]
    """
    up, right, flat = ("^", ">", "-") if ascii_only else ("↑", "→", "─")
    third, names = len(line) // 3, [f" {up} {name} " for name in upwards]
    first = [(at, name) for name in names if 0 <= (at := line.find(len(name) * flat)) < third]
    times = [f" {name} {right} " for name in across]
    free = max(third, *(at + len(name) for at, name in first[:1]), 0)
    last = [(at, time) for time in times if (at := line.rfind(len(time) * flat)) >= free]
    return [*first[:1], *last[:1]]


def margin(procs: int) -> int:
    """Return the number of columns left of the chart that processor numbers take, with a blank and the edge."""
    return len(str(max(procs - 1, 1))) + 2


def margin_of(procs: int, labels: Sequence[str]) -> int:
    """Return the width of the labels left of the chart: names of nodes or partitions, or else processors."""
    return max(margin(procs), 1 + max(map(len, labels))) if labels else margin(procs)


@lru_cache(8)
def node_ticks(view: ChartView, names: tuple[tuple[int, str], ...], folds: int) -> tuple[Tick, ...]:
    """Return labels for visible nodes, one in a row; `folds` rows of pixels are one of cells."""
    ends = [low for low, _ in names[1:]] + [view.high]
    taken: list[Tick] = []
    for (low, label), high in reversed(list(zip(names, ends, strict=True))):
        low, high = max(low, view.low), min(high, view.high)
        if low < high:
            row = (view.rows_of(high - 1).start + view.rows_of(low).stop - 1) // 2 // folds
            if not taken or row > taken[-1].at:
                taken.append(Tick(row, label))
    return tuple(taken)


@lru_cache(8)
def processor_ticks(view: ChartView, folds: int) -> tuple[Tick, ...]:
    """Return labels for some processors, with the lowest and the highest; `folds` rows of pixels are one of cells."""
    taken: list[Tick] = []
    for processor in processors(
        view.low, view.high - 1, _ROWS_APART * (view.high - view.low) / (view.rows // folds), 0.75
    ):
        rows = view.rows_of(processor)
        row = (rows.start + len(rows) // 2) // folds
        if all(abs(row - tick.at) > 1 for tick in taken):
            taken.append(Tick(row, str(processor)))
    return tuple(taken)


def draw_edges(cells: Cells, grid: Grid, left: int) -> None:
    _draw_processors(cells, grid, left)
    if grid.chart.owners is not None and grid.chart.by_owner is None:
        _draw_owners(cells, grid, left - 1)
    _draw_times(cells, grid, left)


def draw_top(area: Cells, grid: Grid, *, is_small: bool = False) -> None:
    """Draw a line above the highest processor or, if they fill all rows, over free ones."""
    blank, half = divmod(grid.rows_above, grid.folds)
    if grid.chart.lanes or (is_small and not grid.rows_above):
        return
    area.chars[:blank] = ord(" ")
    if half:
        row, sign, at = blank, "─", grid.lower.rank[blank] < 0
    elif blank:
        row, sign, at = blank - 1, "_" if grid.look.ascii else "▁", np.ones(grid.size.columns, np.bool_)
    else:
        row, sign, at = 0, "▔", (grid.upper.rank[0] < 0) & (grid.lower.rank[0] < 0)
        at &= (area.chars[0] == ord(" ")) & (not grid.look.ascii)
    area.chars[row, at], area.fg[row, at] = ord(sign), _LINE


def _draw_processors(cells: Cells, grid: Grid, left: int) -> None:
    rows, view = grid.size.rows, grid.chart.view
    above = 0 if grid.chart.lanes else grid.rows_above // grid.folds
    cells.chars[above:rows, left - 1] = ord("|" if grid.look.ascii else "▕")
    cells.fg[above:rows, left - 1] = _LINE
    if grid.chart.lanes:
        _draw_lanes(cells, grid, left - 1)
        return
    if grid.chart.by_owner is not None and grid.chart.memory is None:
        _draw_partitions(cells, grid, left - 1)
        return
    folds = max(round(view.rows / rows), 1)
    names = grid.chart.names
    for row, label in node_ticks(view, names, folds) if names else processor_ticks(view, folds):
        if row < rows:
            cells.write(row, left - 1 - len(label), label, _QUIET)
    name_memory(cells, grid, left - 1)


def _draw_lanes(cells: Cells, grid: Grid, right: int) -> None:
    sign = ">" if grid.look.ascii else "▸"
    lane_of = grid.lane_of_rows()
    for number, lane in enumerate(grid.chart.lanes):
        if lane.row is not None and (seen := [row for row, of in enumerate(lane_of) if of == number]):
            label = f"{sign if lane.is_on_turn else ''}{lane.row}"[-right:]
            style = ink(Hue.ACCENT, Tone.STRONG) if lane.is_on_turn else _QUIET
            cells.write(seen[(len(seen) - 1) // 2], right - len(label), label, style)


def _draw_partitions(cells: Cells, grid: Grid, right: int) -> None:
    taken: set[int] = set()
    for number, (row, label) in enumerate(zip(lane_rows(grid), grid.chart.labels, strict=False)):
        if row is not None and row not in taken:
            taken.add(row)
            cells.write(row, right - len(label), label, name_ink(grid, number))


def _draw_owners(cells: Cells, grid: Grid, column: int) -> None:
    owners = grid.chart.owners
    assert owners is not None
    now = min(max(grid.now, 0), owners.shape[1] - 1)
    shown = grid.stretched(owners, np.full((1, owners.shape[1]), -1, np.int8))
    for row, owner in enumerate(shown[:: grid.folds, min(now, grid.size.columns - 1)].tolist()):
        if owner >= 0:
            cells.chars[row, column] = ord("█") if grid.look.colour else ord("a") + owner % 26
            cells.fg[row, column] = ink(partition_hue(owner), Tone.STRONG) if grid.look.colour else BLANK


def _draw_times(cells: Cells, grid: Grid, left: int) -> None:
    rows = grid.size.rows
    line, times = time_axis(grid.chart.view, grid.chart.clock, grid.look.ascii, grid.look.calendar)
    cells.write(rows, left - 1, ("+" if grid.look.ascii else "└") + line, _LINE)
    cells.write(rows + 1, left, times, _QUIET)
    upwards: Sequence[str] = (
        ("rows",) if grid.chart.lanes else ("nodes",) if grid.chart.names else ("processors", "procs")
    )
    if grid.chart.memory is not None:
        upwards = "nodes, memory above", "nodes, mem above", f"nodes + {MEMORY}", "nodes"
    elif grid.chart.by_owner is not None:
        upwards = "processors by partition", "by partition", "partition"
        if not grid.chart.division:
            upwards = "nodes by use", "by use"
    unit = unit_of([tick.label for tick in time_ticks(grid.chart.view, grid.look.calendar)])
    across = ("by event", "events") if grid.chart.view.axis.by_event else (unit or "time",)
    if unit:
        across = (f"by event, in {unit}" if grid.chart.view.axis.by_event else f"time in {unit}", *across)
    for column, title in axis_titles(line, upwards, across, grid.look.ascii):
        cells.write(rows, left + column, title, _QUIET)
    if grid.has_now:
        cells.write(rows, left + grid.now, line[grid.now : grid.now + 4], ink(Hue.ACCENT, Tone.STRONG))
