"""Command `schedscope play`: a game in which the user schedules some busy hours and is compared with policies."""

from __future__ import annotations

from typing import Any

import click

from tui.cli import options


@click.command("play")
@options.trace(required=False)
@click.option("--seed", type=click.IntRange(0, 10**9), default=0, show_default=True, help="Which busy hours.")
def command(trace: str | None, seed: int) -> Any:
    """Be the scheduler for some busy hours of a trace; then policies play the same hours.

    Jobs arrive, you start them or let them wait, and the clock goes on. Afterwards fcfs, EASY, conservative, relaxed
    and slack-based backfilling are scored beside you by mean and worst wait, with the decisions that cost most.
    """
    from sim.classroom.play.game import SAMPLE, afternoon
    from sim.workload.source import Source

    whole = Source(trace or SAMPLE).read()[1]
    workload = afternoon(whole, seed)
    options.needs_terminal("a game", "schedscope run, which compares the results of policies")
    from tui.classroom.play.screen import PlayScreen
    from tui.classroom.screens import open_at

    return open_at(
        lambda look, is_guest: PlayScreen(
            workload, look, workload.name, hours=lambda seed: afternoon(whole, seed), seed=seed, trace=trace or SAMPLE
        )
    )
