"""`schedscope explain`: the life of a job told. All that it says is in `sim.life.life.Life`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import click

from sim.life.life import Life, life_of
from sim.life.story import rows_of
from sim.life.summary import figures, plans_told, summary
from sim.policies import parse_policy
from sim.words import clock, name, printable
from sim.workload.source import Source
from tui.cli import options
from tui.cli.terminal import columns, say, shows_unicode
from tui.look import text
from tui.replay.places import parse_job

NARROWEST, WIDEST = 40, 100
MOST_LINES = 40
"""A story is told so that it keeps to this, by merging what it can."""
FINENESS = ((14, 6), (10, 6), (7, 6), (5, 5), (4, 3), (3, 2), (2, 1))
"""How many episodes of waiting, and plans, are told: as many as there is room for."""

Lines = list[str]


@click.command("explain")
@click.argument("trace")
@click.argument("job")
@options.policy
@options.switches
@options.placement
@options.of_workload
def command(trace: str, job: str, policy: str, switches: Any, placement: Any, **given: Any) -> None:
    """Why a job waited as long as it did, as a story with numbers."""
    chosen = parse_policy(policy)
    _, workload = Source.of_options(trace, given).read()
    life = life_of(workload, chosen, parse_job(job, workload), placement=placement, switches=switches)
    say(render(life, columns(), shows_unicode()))


def render(life: Life, width: int, unicode: bool = True) -> str:
    """The story of the job for a terminal of `width` columns; `unicode=False` writes ASCII only."""
    width = min(max(width, NARROWEST), WIDEST)
    lines: Lines = []
    for episodes, plans in FINENESS:
        lines = _page(life, width, unicode, episodes, plans)
        if len(lines) <= MOST_LINES:
            break
    drawn = "\n".join(lines)
    return drawn if unicode else text.plain(drawn)


def _page(life: Life, width: int, unicode: bool, episodes: int, plans: int) -> Lines:
    title = text.shorten(printable(f"{name(life.job)} under {life.policy}"), width)
    lines = [title, ("═" if unicode else "=") * text.cells(title)]
    lines += _wrapped(figures(life), width)
    lines += ["", *_wrapped(summary(life), width), ""]
    rows = rows_of(life, episodes, plans)
    margin = max(len(clock(time)) for time, _ in rows) + 2
    before = None
    for time, told in rows:
        stamp = "" if time == before else clock(time)
        lines += _wrapped(told, width, stamp.ljust(margin), " " * margin)
        before = time
    return lines + _plans(life, width, unicode, plans)


def _wrapped(told: str, width: int, first: str = "", rest: str = "") -> Lines:
    """A paragraph; a day and its time stay on one line."""
    tied = re.sub(r"\b(d\d+) (?=\d\d:)", "\\1\xa0", printable(told))
    wrapped = textwrap.wrap(tied, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in wrapped]


def _plans(life: Life, width: int, unicode: bool, told_of: int) -> Lines:
    told, starts = plans_told(life, told_of)
    return ["", *_wrapped(told, width), *_curve(starts, width, unicode)] if told else []


def _curve(starts: Sequence[float], width: int, unicode: bool) -> Lines:
    """The planned starts one after another, the actual one last; higher is later."""
    low, high = min(starts), max(starts)
    if len(starts) < 4 or low == high:
        return []
    room = width - 36
    columns = min(len(starts), max(room, 8))
    shown = [starts[index * (len(starts) - 1) // (columns - 1)] for index in range(columns)]
    drawn = text.sparkline([1 + 7 * (value - low) / (high - low) for value in shown], unicode)
    return [f"  {drawn}  {clock(low)} to {clock(high)}"]
