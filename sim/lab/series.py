"""Means as lines along a factor: the data of a plot, with a panel for each trace."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from sim.lab.intervals import Mean
from sim.lab.pivot import (
    PivotQuery,
    PivotTable,
    RunFilter,
    Value,
    check_factor,
    factor,
    number_of,
    order_of,
    pivot,
    records,
)
from sim.lab.plan import VARIED
from sim.lab.results import Results
from sim.support.errors import NotThereError, ParameterError
from sim.support.formatting import count, quoted

MOST_PANELS, MOST_LINES = 12, 12
LONGEST_PATH = 40
"""Largest number of letters of a path that tells two files of one name apart"""


class Point(NamedTuple):
    """Point of a line: the mean of a metric at one value of the factor along the horizontal axis."""

    x: float
    mean: Mean
    overloaded: bool
    edges: tuple[float, float] | None = None
    """Ends of an interval that is not symmetric around the mean, such as that of a ratio; otherwise None"""

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the interval around the mean; without an interval both ends are the mean."""
        half = self.mean.half or 0.0
        return self.edges or (self.mean.value - half, self.mean.value + half)


@dataclass(frozen=True)
class Panel:
    """Panel of a plot: the lines of one trace, or of a group of its jobs."""

    title: str
    lines: dict[str, list[Point]]
    ticks: tuple[str, ...] = ()
    """Labels at the positions 0, 1, 2 and so on of the horizontal axis; empty if the factor is numbers."""
    mixed: Mapping[str, int] = field(default_factory=dict)
    """Factors that a mean is over although the figure does not name them, with their numbers of values"""


def panels(results: Results, ask: PivotQuery) -> list[Panel]:
    """Return the panels of a plot: a line for each value of `ask.columns`, with the means along `ask.rows`."""
    over = check_factor(ask.rows)
    apart = "trace" not in (over, ask.columns)
    names = log_names(results, ask.where)
    traces = sorted(names, key=order_of) if apart else [""]
    made = [
        _panel(table, over, ask.columns, names, trace)
        for trace in traces
        for table in pivot(results, ask.of_trace(trace) if apart else ask)
    ]
    check_panels(results, ask, made)
    return made


def _panel(table: PivotTable, over: str, columns: str | None, names: Mapping[str, str], trace: str) -> Panel:
    is_numeric = all(isinstance(number_of(row), float) for row in table.rows)
    lines: dict[str, list[Point]] = {}
    for column, (place, row) in product(table.columns, enumerate(table.rows)):
        if (cell := table.cells.get((row, column))) is not None:
            label = "" if column is None else _label(columns, column, names)
            x = number_of(row) if is_numeric else None
            point = Point(float(place) if x is None else x, cell.mean, bool(cell.overloaded))
            lines.setdefault(label, []).append(point)
    ticks = () if is_numeric else tuple(_label(over, row, names) for row in table.rows)
    return Panel(", ".join(filter(None, (names.get(trace, ""), table.label))), lines, ticks, table.mixed)


def _label(factor: str | None, value: Value, names: Mapping[str, str]) -> str:
    return names.get(str(value), said(value)) if factor == "trace" else said(value)


def log_names(results: Results, where: tuple[RunFilter, ...] = ()) -> dict[str, str]:
    """Return each trace -> its name in a figure: that of the log in its header, or the file's if several have it."""
    logs = {str(record["trace"]): str(record["log"] or "") for record in records(results, [], where, also=["log"])}
    alike, files = Counter(logs.values()), Counter(map(file_name, logs))
    return {
        trace: log if log and alike[log] == 1 else file_name(trace) if files[file_name(trace)] == 1 else _far_end(trace)
        for trace, log in logs.items()
    }


def _far_end(trace: str) -> str:
    return trace if len(trace) <= LONGEST_PATH else f"…{trace[1 - LONGEST_PATH :]}"


def every_label(results: Results, factor_name: str) -> list[str]:
    """Return the labels of all values of a factor in the file, whatever a figure shows of them, in order."""
    names = log_names(results)
    values = {factor(record, factor_name) for record in records(results, [], ())}
    return [_label(factor_name, value, names) for value in sorted(values, key=order_of)]


def file_name(trace: str) -> str:
    """Return the name of a trace's file without its folder and endings.

    >>> file_name("logs/KTH-SP2-1996-2.swf.gz"), file_name("lublin-128"), file_name("CTC-3.1-cln.swf")
    ('KTH-SP2-1996-2', 'lublin-128', 'CTC-3.1-cln')
    """
    name = os.path.basename(trace) or trace
    return re.sub(r"(?:\.(?:swf|csv|json|txt|sacct|parquet))?(?:\.gz)?$", "", name) or name


def check_panels(results: Results, ask: PivotQuery, made: list[Panel]) -> None:
    """Raise an error if the plot would have no data, or too many panels or lines."""
    if not made or not any(panel.lines for panel in made):
        raise NotThereError(f"{results.path}: there is nothing to plot: no run has {quoted(ask.value)}")
    most = max(len(panel.lines) for panel in made)
    if len(made) > MOST_PANELS or most > MOST_LINES:
        told = f"{count(len(made), 'panel')} with up to {count(most, 'line')}"
        raise ParameterError(f"{told} are too many to tell apart: choose some with --where")


def said(value: Value) -> str:
    """Return a value as text for a legend; a dash for None."""
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def axis_title(name: str) -> str:
    """Return the title of the axis along which a factor varies, with its unit.

    >>> axis_title("load"), axis_title("lead"), axis_title("policy.omega")
    ('load factor', 'lead of reservations (s)', 'omega')
    """
    if name not in VARIED:
        return name.removeprefix("policy.")
    option = VARIED[name]
    title = option.called.removeprefix("the ") or name
    return f"{title} (s)" if "second" in option.unit else title
