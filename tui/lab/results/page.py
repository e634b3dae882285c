"""Content of the screen of results: the table, and the lines above and below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sim.lab.measured import measured_metric
from sim.lab.pivot import PivotCell, Record, RunFilter, Value
from sim.lab.series import said
from sim.support.formatting import count, printable, shortened
from tui.lab.results.found import Found
from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.look.text import cell, titled
from tui.screens.fitting_keys import fitting_keys

WIDEST = 28


class Word(NamedTuple):
    text: str
    style: str = ""


@dataclass(frozen=True)
class ResultsGrid:
    head: tuple[str, ...]
    rows: tuple[tuple[Word, ...], ...]


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
    pairs += [("v", "value", "value"), ("w", "where", "where"), ("l", "log", "log")]
    return fitting_keys(pairs, (("?", "help", "help"), ("q", "quit", "quit")), width)
