"""The edges of the chart: times along the bottom, processors up the left side."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

from tui.chart.scale import ChartView
from tui.look.ticks import STEPS, moment, named, round_numbers

ROWS = 2
"""Rows of the axis below the chart."""
_GAP = 2
"""Blanks between two times, at least."""
_APART = 10
"""Columns between two ticks, at least."""


class Tick(NamedTuple):
    """A sign on an axis."""

    at: int
    """The column or the row of cells."""
    label: str


def time_ticks(view: ChartView) -> list[Tick]:
    """Times at which something is written; the day is said where it is new.

    >>> [tick.label for tick in time_ticks(ChartView(600, 141, 60, 40, 0, 9))]
    ['d1 00:00', '02:00', '04:00', '06:00', '08:00']
    """
    step = _step(view)
    moments = range(ceil(view.start / step) * step, ceil(view.end / step) * step, step)
    return [Tick(view.column_of(time), label) for time, label in named(moments)]


def _step(view: ChartView) -> int:
    """The least step at which labels stand apart."""
    for step in STEPS:
        widest = len(moment(view.end // step * step, step))
        if step / view.per_column >= max(widest + _GAP, _APART):
            return step
    return STEPS[-1]


def time_axis(view: ChartView, now: float, ascii_only: bool = False) -> tuple[str, str]:
    """The line with its ticks, and the times below it; `now` is written into the line.

    >>> line, times = time_axis(ChartView(600, 141, 40, 40, 0, 9), 1.1 * 86400)
    >>> print(line + chr(10) + times)
    ───┬───────────┬─┴now──────┬───────────┬
    d1 00:00     02:00       04:00     06:00
    """
    flat, tick, mark = ("-", "+", "^") if ascii_only else ("─", "┬", "┴")
    line, times = [flat] * view.columns, [" "] * view.columns
    free = 0
    for at, label in time_ticks(view):
        line[at] = tick
        time = label.split()[-1]
        begin = at - len(label) + (len(time) + 1) // 2
        begin = min(max(begin, 0), view.columns - len(label))
        if begin < free <= at:
            begin = free  # a little to the right, but still below its tick
        if begin >= free:
            times[begin : begin + len(label)] = label
            free = begin + len(label) + 1
    at = view.column_of(now)
    if 0 <= at < view.columns:
        word = f"{mark}now"[: view.columns - at]
        line[at : at + len(word)] = word
    return "".join(line), "".join(times)


def margin(procs: int) -> int:
    """Columns that the numbers of processors take, with a blank before and the edge of the chart behind.

    >>> margin(100), margin(9000)
    (4, 6)
    """
    return len(str(max(procs - 1, 1))) + 2


def processor_ticks(view: ChartView, folds: int) -> list[Tick]:
    """(row of cells, number) of some processors, the lowest and the highest among them.

    `folds` are the pixel rows in a row of cells.
    """
    top, low = view.high - 1, view.low
    taken: list[Tick] = []
    for processor in _chosen(low, top, view.rows // folds):
        rows = view.rows_of(processor)
        row = (rows.start + len(rows) // 2) // folds
        if all(abs(row - tick.at) > 1 for tick in taken):
            taken.append(Tick(row, str(processor)))
    return taken


def _chosen(low: int, top: int, rows: int) -> Iterator[int]:
    """The ends and round numbers between them, about four rows apart; the more important first."""
    yield low
    yield top
    step = next(s for s in round_numbers() if s * rows >= 4 * (top - low + 1))
    yield from range(ceil((low + 1) / step) * step, top, step)
