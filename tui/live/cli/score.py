"""Command `schedscope score`: show how far off forecasts of starts were in a recording of a real cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sim.support.errors import NotThereError, ParameterError
from sim.support.formatting import count, listed, percent, printable, span
from tui.cli import options
from tui.cli.terminal import progress, say
from tui.look.text import table

if TYPE_CHECKING:
    from sim.live.cluster.recording import Recording
    from sim.live.forecast.agreement import Agreement
    from sim.live.forecast.score import Score

MOST_REASONS = 4


@click.command("score")
@click.argument("recording", metavar="FILE.slog")
@click.option("--every", type=click.FloatRange(1), metavar="S", help="Seconds between two moments (60, or more).")
@options.form("text", "json")
@click.option("--policy", type=options.SPEC, help="Replay the jobs under this policy, and compare its starts instead.")
@click.option("--slurm-conf", metavar="FILE", help="The policy is slurm, with the weights of this slurm.conf.")
@click.option("-o", "--output", metavar="FIGURE", help="Also draw the errors: a name in .svg, .pdf or .png.")
def command(
    recording: str, every: float | None, form: str, policy: str | None, slurm_conf: str | None, output: str | None
) -> None:
    """Score the forecasts of starts in a recording of a cluster against the starts that came.

    At one moment a minute, or as --every says, each waiting job gets forecasts: Slurm's own, and those of three models
    that run the moment forward with less or more of the cluster in them. The table compares them where all gave one.
    In a long recording of a large cluster moments are farther apart, so that it takes some ten minutes.

    With --policy SPEC the jobs of the recording run again under this policy, on the same nodes, with the same limits.
    The table counts the jobs that start within a minute of the recorded start, by the last reason to wait. The policy
    slurm has the weights that the recording holds.

    With --slurm-conf FILE the policy is slurm, with the weights in a slurm.conf, or printed by scontrol show config.
    Early recordings need it.
    """
    from sim.live.cluster.recording import Recording
    from sim.live.forecast.score import Scorer, interval_of

    found, unknown = Recording(recording), list[str]()
    if slurm_conf is not None:
        if policy not in (None, "slurm"):
            raise click.UsageError("--slurm-conf is for the policy slurm; leave --policy out")
        policy, unknown = _weighed(slurm_conf)
    if policy is not None:
        _replayed(found, policy, form, unknown)
        return
    scorer = Scorer(found.history(), interval_of(found) if every is None else every)
    with progress(len(found.times()), "forecasts") as bar:
        for cluster in found.pictures():
            scorer.add(cluster)
            if bar is not None:
                bar.update(1)
    score = scorer.score()
    if output is not None and score.common:
        draw(score, output)
    if form == "json":
        say(json.dumps(asdict(score), indent=2), exact=True)
    elif not score.common:
        raise NotThereError(
            f"{recording}: no forecast can be scored: no job was forecast by all models and then started"
        )
    else:
        say("\n".join(lines_of(score)))


def _weighed(slurm_conf: str) -> tuple[str, list[str]]:
    """Return the slurm policy's spec with a file's weights, and names of weights that recordings lack data for."""
    spec, ignored = options.slurm_conf(slurm_conf)
    own = {"partition=": "partitions", "qos=": "QOS", "shares=tree": "the tree of accounts"}
    return spec, [*ignored, *(name for word, name in own.items() if word in spec)]


def _replayed(recording: Recording, policy: str, form: str, unknown: Sequence[str]) -> None:
    """Print the agreement of a policy's starts with recorded ones; on stderr the weights that lack data."""
    from sim.live.forecast.agreement import Seen, agreements
    from sim.policies.recorded_rules import lacking
    from sim.policies.registry import policy_of
    from sim.timeline.scenario import run
    from sim.workload.source import Source

    jobs = options.replay(Source(recording.path))
    options.say_lacking(lacking(jobs.workload, unknown))
    workload, (policy,), _ = options.settle(jobs, [policy])
    chosen = policy_of(policy)
    if workload.shape is not None and not chosen.on_nodes:
        hint = f"schedscope run {recording.path} --procs {workload.procs} --policy {chosen.name} has equal processors"
        raise ParameterError(f"{chosen.name} counts processors, so it cannot replay a recording on its nodes; {hint}")
    assert isinstance(jobs.seen, Seen), "a recording has pictures"
    found = agreements(run(workload, chosen), jobs.seen, workload)
    if form == "json":
        say(json.dumps([asdict(one) for one in found], indent=2), exact=True)
    elif not found:
        raise NotThereError(f"{recording.path}: no job started in it, so no start can be compared")
    else:
        say("\n".join(agreement_lines(found, policy)))


def agreement_lines(found: Sequence[Agreement], policy: str) -> list[str]:
    from sim.live.forecast.agreement import NEAR

    rows = [["waited for", "jobs", f"within {span(NEAR)}", "earlier", "later", "median"]]
    for one in found:
        shares = [percent(share) for share in (one.near, one.earlier, one.later)]
        rows.append([shown(one.reason), f"{one.jobs:,}", *shares, span(one.median)])
    return [f"starts under {policy}, compared with the recorded starts", "", *table(rows, indent=2)]


def lines_of(score: Score) -> list[str]:
    from sim.live.forecast.ranges import SHARE
    from sim.live.forecast.score import FAR, NEAR, SLURM

    lines = [
        f"{count(score.common, 'forecast')} of {count(score.jobs, 'job')} that started, by every model, at "
        f"{count(score.moments, 'moment')} in {span(score.last - score.first)}",
        "",
    ]
    rows = [["forecast", "median", "mean", f"within {span(NEAR)}", f"within {span(FAR)}", "too early"]]
    for row in score.rows:
        shares = [percent(row.near), percent(row.far), percent(row.early)]
        rows.append([row.name, span(row.median), span(row.mean), *shares])
    lines += table(rows, indent=2)
    for by, many, medians in (
        ("Slurm's date", score.slurm_horizons, [row.by_slurm for row in score.rows]),
        ("the wait that came", score.horizons, [row.by_horizon for row in score.rows]),
    ):
        if used := [at for at, forecasts in enumerate(many) if forecasts]:
            rows = [[f"median by {by}", *(_horizon(at) for at in used)]]
            for row, errors in zip(score.rows, medians, strict=True):
                rows.append([row.name, *(span(errors[at] or 0.0) for at in used)])
            rows.append(["forecasts", *(f"{many[at]:,}" for at in used)])
            lines += ["", *table(rows, indent=2)]
    lines.append("")
    if SLURM not in [row.name for row in score.rows]:
        lines.append("Slurm expected no start.")
    if score.inside is not None:
        lines.append(
            f"{percent(score.inside)} of {count(score.ranges, 'start')} were inside the range around the last kind of "
            f"forecast, which is made to hold {percent(SHARE)}."
        )
    if score.missing:
        reasons = [f"{shown(why)} ({many:,})" for why, many in score.missing]
        lines.append(f"No forecast for jobs that waited for {listed(reasons, most=MOST_REASONS)}.")
    lines.append(f"Too early: the job started more than {span(NEAR)} later than the forecast said.")
    return lines


def draw(score: Score, output: str) -> None:
    """Write a figure: the error of forecasts by time before the start, and shares that were near or too early."""
    from sim.lab.intervals import Mean
    from sim.lab.series import Panel, Point
    from sim.live.forecast.score import FAR, NEAR
    from tui.lab.cli.figure import draw_bars, in_unit, save_figure
    from tui.lab.cli.figure_style import Style

    def panel(title: str, ticks: list[str], values: dict[str, list[float | None]]) -> Panel:
        lines = {
            name: [Point(at, Mean(value), overloaded=False) for at, value in enumerate(found) if value is not None]
            for name, found in values.items()
        }
        return Panel(title, lines, tuple(ticks))

    used = [at for at, many in enumerate(score.horizons) if many]
    errors = panel(
        "by the wait that came", [_horizon(at) for at in used],
        {row.name: [row.by_horizon[at] for at in used] for row in score.rows},
    )  # fmt: skip
    ticks = [f"within {span(NEAR)}", f"within {span(FAR)}", "too early"]
    shares: dict[str, list[float | None]] = {
        row.name: [100 * row.near, 100 * row.far, 100 * row.early] for row in score.rows
    }
    (errors,), title = in_unit([errors], "s", "median error (s)")
    save_figure(output, [errors, panel("share of forecasts (%)", ticks, shares)], ("", title), Style(), draw_bars)


def _horizon(at: int) -> str:
    from sim.live.forecast.score import HORIZONS

    return "beyond" if HORIZONS[at] > HORIZONS[-2] else f"up to {span(HORIZONS[at])}"


def shown(reason: str) -> str:
    word = printable(reason)
    return word if len(word) <= 40 else word[:37] + "..."
