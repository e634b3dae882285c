"""Content of a results file as plain values, which are read in a thread, and what the screen shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.lab.again import runs_of
from sim.lab.measured import measured_metric
from sim.lab.pivot import PivotCell, PivotQuery, PivotTable, Record, RunFilter, Value, in_order, pivot
from sim.lab.results import FACTORS, Results
from sim.lab.series import Panel, axis_title, panels
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, printable, shortened
from tui.lab.plotted import Manner, mean_in_words, plotted, value_in_words
from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.look.text import cell, titled
from tui.screens.fitting_keys import fitting_keys

MOST_COLUMNS = 8
"""Largest number of columns of the table for the first query."""


@dataclass(frozen=True)
class Shown:
    """Wish of the user: means for a query, or runs that meet conditions."""

    ask: PivotQuery | None = None
    """Query for the means in the table; None to let the program choose the first query."""
    runs: tuple[RunFilter, ...] | None = None
    log: bool = False


@dataclass(frozen=True)
class Found:
    """Content of a results file for one `Shown`."""

    ask: PivotQuery
    varying: dict[str, int]
    """Number of different values of each factor (such as trace) that varies"""
    runs: int
    failed: int
    table: PivotTable
    listed: tuple[Record, ...] | None
    plot: Panel | None
    panels: int
    told: str = ""


def found(path: str, shown: Shown) -> Found:
    """Read the file, and return the content for what the user wants to see."""
    with Results(path) as results:
        every = runs_of(results, [])
        values = {name: {record[name] for record in every} for name in FACTORS}
        varying = {name: len(of) for name, of in values.items() if len(of) > 1}
        ask = shown.ask or first_ask(varying)
        tables = pivot(results, ask)
        table = tables[0] if tables else PivotTable("", (), (), {})
        listed = None
        if shown.runs is not None:
            listed = tuple(sorted(runs_of(results, [ask.metric.name], shown.runs), key=in_order))
        try:
            made, told = panels(results, along(ask, table)), ""
        except SchedscopeError as error:
            made, told = [], str(error)
    failed = sum(1 for record in every if record["error"])
    return Found(ask, varying, len(every), failed, table, listed, made[0] if made else None, len(made), told)


def first_ask(varying: dict[str, int]) -> PivotQuery:
    """Return the first query: policies by the factor with most values that fits into `MOST_COLUMNS` columns."""
    others = [name for name in varying if name not in ("policy", "seed", "version")]
    across = max(others, key=lambda name: (varying[name] <= MOST_COLUMNS, varying[name]), default="")
    return PivotQuery("policy", across)


def along(ask: PivotQuery, table: PivotTable) -> PivotQuery:
    """Return the query for the plot, with the factor that has numbers, or more values, on the x axis."""
    if not ask.columns:
        return ask
    down, across = _numbers(table.rows), _numbers(table.columns)
    turned = across > down or (across == down and len(table.columns) > len(table.rows))
    return replace(ask, rows=ask.columns, columns=ask.rows) if turned else ask


def _numbers(values: Sequence[Value]) -> bool:
    return len(values) > 1 and all(isinstance(value, int | float) for value in values)


def runs_in(ask: PivotQuery, row: Value, column: Value) -> tuple[RunFilter, ...]:
    pairs = [(ask.rows, row), *([(ask.columns, column)] if ask.columns else [])]
    return (*ask.where, *(RunFilter(name, "=", "" if value is None else f"{value}") for name, value in pairs))


def drawn_plot(of: Found, shown: Shown, columns: int, rows: int, colour: bool, unicode: bool) -> str:
    if of.plot is None:
        return of.told
    titles = axis_title(along(of.ask, of.table).rows), titled(of.ask.metric)
    try:
        return plotted(of.plot, titles, Manner(columns, rows, colour, unicode, shown.log))
    except SchedscopeError as error:
        return str(error)


# The screen: its table, and the lines above and below it


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
    head = (f"{ask.rows} \\ {ask.columns}", *map(value_in_words, table.columns)) if ask.columns else (ask.rows, "")
    rows = tuple(
        (Word(value_in_words(row)), *(_mean(table.cells.get((row, column)), found) for column in table.columns))
        for row in table.rows
    )
    return ResultsGrid(tuple(head), rows)


def _mean(of: PivotCell | None, found: Found) -> Word:
    style = "faint" if of is None else "strong" if of.best else "warn" if of.overloaded else ""
    return Word(mean_in_words(of, found.ask.metric), style)


def _runs(found: Found, listed: Sequence[Record]) -> ResultsGrid:
    names = [name for name in found.varying if len({record[name] for record in listed}) > 1] or ["policy"]
    metric = measured_metric(found.ask.value)
    rows = tuple(
        (*(Word(value_in_words(record[name])) for name in names), _number(record, metric.name)) for record in listed
    )
    return ResultsGrid((*names, titled(metric)), rows)


def _number(record: Record, name: str) -> Word:
    if record["error"]:
        return Word(printable(shortened(str(record["error"]), 40)), "bad")
    sign = "!" if record["overload"] else " "
    return Word(f"{cell(measured_metric(name), record[f'={name}'])} {sign}", "warn" if record["overload"] else "")


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
