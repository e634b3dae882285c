"""Content of a results file as plain values, which are read in a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim.lab.again import runs_of
from sim.lab.pivot import PivotQuery, PivotTable, Record, RunFilter, Value, in_order, pivot
from sim.lab.results import FACTORS, Results
from sim.lab.series import Panel, axis_title, panels
from sim.support.errors import SchedscopeError
from tui.lab.plotted import Manner, plotted
from tui.look.text import titled

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
