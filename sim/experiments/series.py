"""Means as lines over something that varies: what a plot draws, a panel a trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.errors import NotThereError, ParameterError
from sim.experiments.intervals import Mean
from sim.experiments.pivot import Ask, Condition, Value, check_factor, order_of, pivot, records
from sim.experiments.plan import VARIED
from sim.experiments.results import Results
from sim.words import count, quoted

MOST_PANELS, MOST_LINES = 12, 12


class Point(NamedTuple):
    """A mean at a place on the axis."""

    x: float
    mean: Mean
    overloaded: bool


@dataclass(frozen=True)
class Panel:
    """The lines of one trace, or of a group of its jobs."""

    title: str
    lines: dict[str, list[Point]]
    ticks: tuple[str, ...] = ()
    """What stands at 0, 1, 2 ... where x is no number."""


def panels(results: Results, ask: Ask) -> list[Panel]:
    """The value over `rows`, a line each of `columns`, a panel each trace and group."""
    over = check_factor(ask.rows)
    apart = "trace" not in (over, ask.columns)
    traces = sorted({record["trace"] for record in records(results, [], ask.where)}, key=order_of) if apart else [""]
    made = []
    for trace in traces:
        where = (*ask.where, Condition("trace", "=", trace)) if apart else ask.where
        for table in pivot(results, replace(ask, where=where)):
            is_numeric = all(isinstance(_number(row), float) for row in table.rows)
            lines: dict[str, list[Point]] = {}
            for column in table.columns:
                for place, row in enumerate(table.rows):
                    if (cell := table.cells.get((row, column))) is not None:
                        x = _number(row) if is_numeric else None
                        point = Point(float(place) if x is None else x, cell.mean, bool(cell.overloaded))
                        lines.setdefault("" if column is None else said(column), []).append(point)
            title = ", ".join(filter(None, (trace, table.label)))
            made.append(Panel(title, lines, () if is_numeric else tuple(map(said, table.rows))))
    if not made:
        raise NotThereError(f"{results.path}: there is nothing to plot: no run has {quoted(ask.value)}")
    _check(made)
    return made


def _check(made: list[Panel]) -> None:
    most = max(len(panel.lines) for panel in made)
    if len(made) > MOST_PANELS or most > MOST_LINES:
        told = f"{count(len(made), 'panel')} with up to {count(most, 'line')}"
        raise ParameterError(f"{told} are too many to tell apart: choose some with --where")


def _number(value: Value) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def said(value: Value) -> str:
    """A value as a legend has it.

    >>> said(0.8), said(None), said("easy")
    ('0.8', '–', 'easy')
    """
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def axis_title(name: str) -> str:
    """What an axis says of what varies along it, with its unit.

    >>> axis_title("load"), axis_title("lead"), axis_title("policy.omega")
    ('load factor', 'lead of reservations (s)', 'omega')
    """
    if name not in VARIED:
        return name.removeprefix("policy.")
    option = VARIED[name]
    title = option.called.removeprefix("the ") or name
    return f"{title} (s)" if "second" in option.unit else title
