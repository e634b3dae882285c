"""Table of results as rows of cells, of which one is highlighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.segment import Segment

from sim.lab.measured import measured_metric
from sim.lab.pivot import PivotCell, Record, RunFilter, Value
from sim.lab.series import said
from sim.support.formatting import count, printable, shortened
from tui.lab.results.found import Found
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line
from tui.look.text import cell, titled
from tui.widgets.cell_rows import fitted

WIDEST = 28
GAP = 2


class Word(NamedTuple):
    text: str
    style: str = ""


@dataclass(frozen=True)
class ResultsGrid:
    head: tuple[str, ...]
    rows: tuple[tuple[Word, ...], ...]

    @property
    def widths(self) -> tuple[int, ...]:
        words = zip(*(tuple(word.text for word in row) for row in self.rows), strict=True) if self.rows else [()]
        below = [max(map(text.cells, column), default=0) for column in words]
        below += [0] * (len(self.head) - len(below))
        return tuple(max(text.cells(name), wide) for name, wide in zip(self.head, below, strict=True))

    @property
    def width(self) -> int:
        return sum(self.widths) + GAP * (len(self.head) - 1)


def grid_of(found: Found) -> ResultsGrid:
    return _means(found) if found.listed is None else _runs(found, found.listed)


def _means(found: Found) -> ResultsGrid:
    ask, table = found.ask, found.table
    head = (f"{ask.rows} \\ {ask.columns}", *map(_name, table.columns)) if ask.columns else (ask.rows, "")
    rows = tuple(
        (Word(_name(row)), *(_mean(table.cells.get((row, column)), found) for column in table.columns))
        for row in table.rows
    )
    return ResultsGrid(tuple(head), rows)


def _mean(of: PivotCell | None, found: Found) -> Word:
    if of is None:
        return Word("·  ", "faint")
    metric = found.ask.metric
    half = "" if of.mean.half is None else f" ±{cell(metric, of.mean.half)}"
    sign = "*" if of.best else "!" if of.overloaded else " "
    return Word(f"{cell(metric, of.mean.value)}{half} {sign}", "strong" if of.best else "warn" if of.overloaded else "")


def _runs(found: Found, listed: Sequence[Record]) -> ResultsGrid:
    names = [name for name in found.varying if len({record[name] for record in listed}) > 1] or ["policy"]
    metric = measured_metric(found.ask.value)
    rows = tuple((*(Word(_name(record[name])) for name in names), _number(record, metric.name)) for record in listed)
    return ResultsGrid((*names, titled(metric)), rows)


def _number(record: Record, name: str) -> Word:
    if record["error"]:
        return Word(printable(shortened(str(record["error"]), 40)), "bad")
    sign = "!" if record["overload"] else " "
    return Word(f"{cell(measured_metric(name), record[f'={name}'])} {sign}", "warn" if record["overload"] else "")


def _name(value: Value) -> str:
    return printable(shortened(said(value), WIDEST))


@dataclass(frozen=True)
class Window:
    row: int = 0
    column: int = 1
    first_row: int = 0
    first_column: int = 1

    def on(self, grid: ResultsGrid, width: int, height: int) -> Window:
        """Return the window moved so that its cell exists and is visible in this width and height."""
        row = min(max(self.row, 0), max(len(grid.rows) - 1, 0))
        column = min(max(self.column, 1), max(len(grid.head) - 1, 1))
        first_row = min(max(self.first_row, row - max(height - 2, 0)), row)
        first = min(self.first_column, column)
        widths = grid.widths
        while first < column and widths[0] + sum(GAP + wide for wide in widths[first : column + 1]) > width:
            first += 1
        return Window(row, column, first_row, first)


def drawn(
    grid: ResultsGrid, window: Window, width: int, height: int, look: Look, whole_rows: bool
) -> list[list[Segment]]:
    """Return the visible part of the table; `whole_rows` highlights the chosen cell's row."""
    widths, blank = grid.widths, look.style("")
    columns = [0, *range(window.first_column, len(grid.head))]
    head = [_padded(grid.head[at], widths[at], at, "dim", look) for at in columns]
    lines = [fitted([segment for part in head for segment in part], width, blank)]
    for number in range(window.first_row, min(window.first_row + height - 1, len(grid.rows))):
        row, parts = grid.rows[number], []
        for at in columns:
            is_chosen = number == window.row and (whole_rows or at == window.column)
            style = f"{row[at].style} {'select' if is_chosen else ''}"
            parts += _padded(row[at].text, widths[at], at, style, look)
        lines.append(fitted(parts, width, blank))
    return lines + [fitted([], width, blank)] * (height - len(lines))


def _padded(words: str, width: int, at: int, style: str, look: Look) -> list[Segment]:
    shown = text.drawn(text.pad(words, width, "right" if at else "left"), look.ascii)
    gap = [Segment(" " * GAP, look.style(""))] if at else []
    return [*gap, Segment(shown, look.style(style))]


def place_at(grid: ResultsGrid, window: Window, x: int, y: int) -> tuple[int, int] | None:
    row, left, widths = window.first_row + y - 1, grid.widths[0] if grid.rows else 0, grid.widths
    if y < 1 or row >= len(grid.rows):
        return None
    for at in range(window.first_column, len(grid.head)):
        left += GAP + widths[at]
        if x < left:
            return row, at
    return None


def title(path: str, found: Found | None, where: Sequence[RunFilter], width: int) -> Line:
    if found is None:
        return line(Span(f" {text.shorten(printable(path), width - 2)}", "strong"))
    failed = f", {found.failed:,} failed" if found.failed else ""
    what = f"   {count(found.runs, 'run')}{failed}   {titled(found.ask.metric)}"
    what += "".join(f"   {each.name}{each.compare}{each.value}" for each in where)
    name = text.shorten(printable(path), max(width // 3, 10))
    room = width - text.cells(name) - 2
    return line(Span(f" {name}", "strong"), Span(text.shorten(printable(what), room), "dim"))


def note(found: Found | None) -> Line:
    if found is None:
        return line(Span(" reading ...", "dim"))
    notes = []
    if any(of.best for of in found.table.cells.values()):
        notes.append("* best, significantly")
    if any(of.overloaded for of in found.table.cells.values()):
        notes.append("! overloaded: the queue keeps growing")
    if found.panels > 1 and found.plot is not None:
        notes.append(f"plot: {printable(shortened(found.plot.title, 40))}, 1 of {found.panels} (w chooses)")
    if found.table.mixed:
        notes.append("means over " + ", ".join(f"{many} of {name}" for name, many in found.table.mixed.items()))
    return line(Span(" " + " · ".join(notes), "dim"))


def keys(width: int, in_runs: bool) -> Line:
    """Return the line with the keys; `in_runs` for single runs, else for means."""
    pairs = [("↑ ↓ ← →", "choose", ""), ("enter", "replay" if in_runs else "its runs", "open")]
    if in_runs:
        pairs += [("esc", "means", "back")]
    else:
        pairs += [("x", "rows", "rows"), ("c", "columns", "columns"), ("r", "all runs", "runs")]
    pairs += [
        ("v", "value", "value"),
        ("w", "where", "where"),
        ("l", "log", "log"),
    ]
    last = [("?", "help", "help"), ("q", "quit", "quit")]  # shown at any width
    while pairs and sum(text.cells(key) + text.cells(word) + 3 for key, word, _ in (*pairs, *last)) > width + 1:
        pairs.pop()
    spans: list[Span] = []
    for key, word, action in (*pairs, *last):
        spans += [Span("  " if spans else " "), Span(key, "key", action), Span(f" {word}", "dim", action)]
    return line(*spans)
