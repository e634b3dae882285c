"""Command `schedscope when`: the start that Slurm expects for a job of a real cluster, and how it moved."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from sim.formatting import count, span
from tui.cli import observed
from tui.cli.terminal import say
from tui.look.text import table

if TYPE_CHECKING:
    from sim.cluster.expectations import Expectations

MOST_DATES = 12
"""Largest number of expected starts that are listed, the latest ones."""


@click.command("when")
@click.argument("job")
@observed.options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def command(job: str, recording: str | None, at: str | None, host: str, form: str) -> None:
    """When a job of a real cluster starts, by Slurm: the date, how it moved so far, and what it depends on.

    A date is a plan only for a job that waits for its priority or for resources; for all others it is "not before".
    How it moved is known from a recording.
    """
    from sim.cluster.expectations import Expectations, expectations
    from sim.cluster.reasons import say as reason
    from sim.cluster.reasons import start_in_words

    cluster, found_in = observed.picture(host, recording, at)
    found = observed.job_of(cluster, job)
    known = Expectations()
    if found_in is not None:
        known = expectations(takewhile(lambda each: each.at <= cluster.at, found_in.pictures()), found.id)
    if form == "json":
        told = {
            "at": cluster.at,
            "job": found.id,
            "state": found.state,
            "expected_start": found.start if found.is_waiting and not cluster.is_private else None,
            "is_plan": found.is_planned and not cluster.is_private,
            "started": None if found.is_waiting else found.start,
            "said": [asdict(each) for each in known.said],
        }
        say(json.dumps(told, indent=2), exact=True)
        return
    lines = [f"J{found.id} {reason(cluster, found)}"]
    if found.is_waiting:
        lines.append(start_in_words(cluster, found))
    say("\n".join([*lines, *moved(known, cluster.at)]))


def moved(known: Expectations, now: float) -> list[str]:
    """Return lines on how the expected start moved: a sentence and a table; empty if that is unknown."""
    from sim.cluster.dates import date

    if not known.said:
        return []
    if not known.moves:
        lines = ["The date has not moved since it was first said."]
    else:
        total = known.said[-1].start - known.said[0].start
        way = "later" if total >= 0 else "earlier"
        lines = [f"The date moved {count(len(known.moves), 'time')}, {span(abs(total))} {way} in all."]
    if known.started is not None:
        late = known.started - known.said[-1].start
        lines.append(f"It started {span(abs(late))} {'later' if late >= 0 else 'earlier'} than the last date said.")
    rows = [
        [date(each.at, now), date(each.start, now), "plan" if each.is_plan else "not before"]
        for each in known.said[-MOST_DATES:]
    ]
    return [*lines, "", *table([["said at", "start", ""], *rows], align=["left", "left", "left"])]
