"""Command `schedscope when`: the start that Slurm expects for a job of a real cluster, and how it moved."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sim.support.errors import NotThereError
from sim.support.formatting import count, span
from tui.cli import options
from tui.cli.terminal import say
from tui.live.cli import observed
from tui.look.text import table

if TYPE_CHECKING:
    from sim.live.cluster.one_job import Expectations
    from sim.live.forecast.board import Forecasts
    from sim.live.forecast.what_if import Answer

MOST_DATES = 12
"""Largest number of expected starts that are listed; of more, the latest are listed."""


@click.command("when")
@click.argument("job", required=False)
@observed.options
@click.option(
    "--new",
    "new",
    is_flag=False,
    flag_value="",
    metavar="REQUEST",
    help="A job not submitted yet, as in 'nodes=2 time=4h partition=gpu'; without a request, what fits now.",
)
@click.option("--if", "change", metavar="CHANGE", help="Ask for something else, as in 'time=30m cpus=8'.")
@options.form("text", "json")
def command(
    job: str | None, recording: str | None, at: str | None, host: str, new: str | None, change: str | None, form: str
) -> None:
    """When a job of a real cluster starts, by Slurm: the date, how it moved so far, and a forecast of our own.

    A date is a plan only for a job that waits for its priority or for resources; for all others it is "no plan".
    A recording shows how the date moved, and the score of the forecasts of the day before. --if changes time, cpus,
    nodes, mem (per node), gpus (per node), partition or exclusive (yes, no). It names the jobs that would start later.

    --new asks about a job that you have not submitted, in the words of --if: when it would start, and what would let
    it start earlier. Without a request it lists what fits now, and for how long.
    """
    if (job is None) == (new is None):
        raise click.UsageError("name a JOB, or a new one with --new 'nodes=2 time=4h'; --new alone: what fits now")
    if new is not None:
        _about_new(new, recording, at, host, change, form)
        return
    assert job is not None
    from sim.live.cluster.one_job import Expectations, expectations, pictures_of
    from sim.live.cluster.reasons import say as reason
    from sim.live.cluster.reasons import start_in_words

    cluster, found_in = observed.picture(host, recording, at)
    found = observed.job_of(cluster, job, host, found_in)
    known = Expectations()
    if found_in is not None:
        own = pictures_of(found_in, found.id, found.submit or 0.0, cluster.at)
        known = expectations(own, found.id)
    forecasts, answer = None, None
    if found.is_waiting:
        board, forecasts = observed.forecasts_of(cluster, host, found_in)
        if change is not None:
            from sim.live.forecast.what_if import what_if

            answer = what_if(cluster, found, change, board.past, forecasts.starts)
    elif change is not None:
        raise NotThereError(f"J{found.id} does not wait, so there is nothing to change")
    if form == "json":
        told = {
            "at": cluster.at,
            "job": found.id,
            "state": found.state,
            "expected_start": found.start if found.is_waiting and not cluster.is_private else None,
            "is_plan": found.is_planned and not cluster.is_private,
            "started": None if found.is_waiting else found.start,
            "said": [asdict(each) for each in known.said],
            "forecast": None if forecasts is None else forecast_fields(forecasts, found.id),
            "score": None if forecasts is None or forecasts.ours is None else asdict(forecasts.ours),
            "if": None if answer is None else answer_fields(answer),
        }
        say(json.dumps(told, indent=2), exact=True)
        return
    lines = [f"J{found.id} {reason(cluster, found)}"]
    if found.is_waiting:
        lines.append(start_in_words(cluster, found))
    if forecasts is not None:
        from sim.live.forecast.words import answer_lines, forecast_lines

        lines += forecast_lines(cluster, found, forecasts)
        lines += answer_lines(cluster, answer) if answer is not None else ()
    say("\n".join([*lines, *moved(known, cluster.at)]))


def _about_new(new: str, recording: str | None, at: str | None, host: str, change: str | None, form: str) -> None:
    """Print when a job that does not exist yet would start or, without a request, what fits now."""
    from sim.live.forecast import new_job

    if change is not None:
        raise click.UsageError("--if changes a JOB that waits; write the request into --new")
    cluster, found_in = observed.picture(host, recording, at)
    if not new.strip():
        fits = new_job.fits_now(cluster)
        if form == "json":
            say(json.dumps({"at": cluster.at, "fits": [fit._asdict() for fit in fits]}, indent=2), exact=True)
        else:
            say("\n".join(new_job.fit_lines(cluster, fits)))
        return
    job = new_job.new_job(cluster, new)
    board, forecasts = observed.forecasts_of(cluster, host, found_in)
    there, answer = new_job.start_of(cluster, job, board.past, forecasts.starts)
    if form == "json":
        told = {"at": cluster.at, "request": " ".join(new.split()), "priority": job.priority, **answer_fields(answer)}
        say(json.dumps(told, indent=2), exact=True)
        return
    say("\n".join(new_job.new_lines(there, job, answer, board.past, forecasts.starts)))


def forecast_fields(forecasts: Forecasts, job: str) -> dict[str, float | None] | None:
    """Return a forecast as JSON; without a range, low and high are starts for early and latest ends of jobs."""
    from sim.live.forecast.ranges import SHARE

    if (found := forecasts.span(job)) is None:
        return None
    share = SHARE if job in forecasts.ranges else None
    return {"low": found.low, "middle": forecasts.starts[job].middle, "high": found.high, "share": share}


def answer_fields(answer: Answer) -> dict[str, object]:
    before, after = (None if each is None else each._asdict() for each in (answer.before, answer.after))
    later = [{"job": job, "by": by} for job, by in answer.later]
    return {"change": answer.change, "before": before, "after": after, "later": later, "why": answer.why or None}


def moved(known: Expectations, now: float) -> list[str]:
    """Return how the expected start of a job moved up to `now`; empty if that is unknown."""
    from sim.live.cluster.dates import date

    if not known.said:
        return []
    if not known.moves:
        lines = ["The date has not moved since it was first said."]
    else:
        total = known.said[-1].start - known.said[0].start
        way = "later" if total >= 0 else "earlier"
        lines = [f"The date moved {count(len(known.moves), 'time')}, {span(abs(total))} {way} in all."]
        if len(known.said) > MOST_DATES:
            lines[0] += f" These are the last {MOST_DATES} dates."
    if known.started is not None:
        late = known.started - known.said[-1].start
        lines.append(f"It started {span(abs(late))} {'later' if late >= 0 else 'earlier'} than the last date said.")
    rows = [
        [date(each.at, now), date(each.start, now), "plan" if each.is_plan else "no plan"]
        for each in known.said[-MOST_DATES:]
    ]
    return [*lines, "", *table([["said at", "start", ""], *rows], align=["left", "left", "left"])]
