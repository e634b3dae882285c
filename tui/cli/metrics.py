"""Command `schedscope metrics`: list every metric with its meaning, unit, formula and paper, or search for some."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap

import click

from sim.metrics.catalogue import FAIRNESS, MEASURED, SYMBOLS, Metric, meant, respelled, search
from sim.support.errors import ParameterError
from sim.support.formatting import quoted
from tui.cli import options
from tui.cli.terminal import say, seen_columns, wrapped_lines, wrapped_table

ALL: tuple[Metric, ...] = (*MEASURED, *FAIRNESS)
UNITS = {"s": "seconds", "h": "hours", "share": "share of 1", "factor": "factor", "jobs": "jobs", "times": "times"}
MOST = 12


@click.command("metrics")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@options.form("table", "json")
def command(words: tuple[str, ...], form: str) -> None:
    """List every metric, or find one by its name or by what it means."""
    text = " ".join(words)
    exact = [entry for entry in ALL if entry.name == text.replace("-", "_")]
    found = exact or (search(text, ALL)[:MOST] if text else list(ALL))
    if not found:
        mended = respelled(text, ALL)
        hint = f"; did you mean {quoted(mended)}?" if mended else meant(text, ALL)
        raise ParameterError(f"no metric {quoted(text)}{hint}")
    if form == "json":
        say(json.dumps([entry._asdict() for entry in found], indent=1), exact=True)
    else:
        say(explained(found[0]) if len(found) == 1 else listing(found, bool(text)))


def listing(found: Sequence[Metric], is_search: bool) -> str:
    rows = [[entry.name, UNITS[entry.unit], entry.better or "", entry.meaning] for entry in found]
    lines = wrapped_table([["metric", "unit", "better", "meaning"], *rows], seen_columns())
    hint = "schedscope metrics NAME: formula and paper"
    if not is_search:
        hint += "; schedscope metrics worst wait: by meaning; run --fair measures the last six"
    return "\n".join([*lines, "", *wrapped_lines([hint], seen_columns())])


def explained(entry: Metric) -> str:
    rows = [
        ["meaning", entry.meaning],
        ["unit", UNITS[entry.unit]],
        ["better", entry.better or "neither"],
        ["formula", entry.formula],
        ["paper", entry.paper or "-"],
    ]
    lines = [f"{entry.name}: {entry.title}", ""]
    for name, text in rows:
        first, *others = wrap(text, 68) or [""]
        lines += [f"  {name:<9}{first}", *(" " * 11 + other for other in others)]
    return "\n".join([*lines, "", *wrap(SYMBOLS, 78)])
