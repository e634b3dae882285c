"""Metrics as tables show them: a title with its unit, and the value as text."""

from __future__ import annotations

from sim.metrics.aggregates import Value
from sim.metrics.catalogue import Metric
from sim.support.formatting import percent
from tui.look.text import number


def titled(entry: Metric) -> str:
    return with_unit(entry.counted, entry.unit)


def with_unit(title: str, unit: str) -> str:
    """Return the title, with the unit appended if it is a unit of time."""
    return title + {"s": " (s)", "h": " (h)"}.get(unit, "")


def cell(entry: Metric, value: Value) -> str:
    """Return the value of a metric as text.

    >>> from sim.metrics.catalogue import metric
    >>> cell(metric("mean_wait"), 1234.56), cell(metric("utilization"), 0.5), cell(metric("killed"), None)
    ('1,234.6', '50.00 %', '–')
    """
    if value is None:
        return "–"
    if entry.unit == "share":
        return percent(value, 2)
    if entry.unit in ("jobs", "times"):
        return number(value)
    return f"{value:,.1f}" if entry.unit in ("s", "h") else f"{value:,.2f}"
