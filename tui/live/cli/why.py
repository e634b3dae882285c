"""Command `schedscope why`: the reason why a job of a real cluster waits."""

from __future__ import annotations

import json

import click

from tui.cli import options
from tui.cli.terminal import say
from tui.live.cli import observed


@click.command("why")
@click.argument("job")
@observed.options
@click.option("--long", "is_long", is_flag=True, help="All that the cluster tells about it: a paragraph.")
@options.form("text", "json")
def command(job: str, recording: str | None, at: str | None, host: str, is_long: bool, form: str) -> None:
    """Why a job of a real cluster waits: one line, or a paragraph with --long.

    JOB is its number in Slurm, such as 4711 or 4711_3. Slurm is asked, as an ordinary user may; or a recording, as of
    its last poll, or of the one before --at.
    """
    from sim.live.cluster.queue_order import ahead
    from sim.live.cluster.reasons import paragraph
    from sim.live.cluster.reasons import say as reason

    cluster, found_in = observed.picture(host, recording, at)
    found = observed.job_of(cluster, job, host, found_in)
    if form == "json":
        told = {
            "at": cluster.at,
            "job": found.id,
            "state": found.state,
            "reason": found.reason,
            "text": f"J{found.id} {reason(cluster, found)}",
            "paragraph": paragraph(cluster, found),
            "ahead": [other.id for other in ahead(cluster, found)] if found.reason == "Priority" else [],
            "expected_start": None if cluster.is_private or not found.is_waiting else found.start,
            "is_plan": found.is_planned and not cluster.is_private,
        }
        say(json.dumps(told, indent=2), exact=True)
    else:
        say("\n".join(paragraph(cluster, found)) if is_long else f"J{found.id} {reason(cluster, found)}")
