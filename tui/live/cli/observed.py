"""State of a cluster for commands such as `why`: polled now, or read from a recording."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sim.support.errors import NotThereError
from sim.support.formatting import Moment, Step, parse_moment, printable, shortened
from tui.cli.terminal import progress

if TYPE_CHECKING:
    from sim.live.cluster.recording import Recording
    from sim.live.cluster.slurm.adapter import SlurmSource
    from sim.live.cluster.values import Cluster, ClusterJob
    from sim.live.forecast.board import Board, Forecasts

PATIENCE = 4.0
"""Largest number of seconds that the score of earlier forecasts takes on a usual computer. It covers the day before the
state shown. Of larger clusters fewer polls are scored; how many does not depend on the speed of the computer, so that
all computers print the same.
"""
MOST_JUDGED = 288
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def options(command: F) -> F:
    for option in (
        click.option("--at", metavar="T", help="The moment in the recording: a date, seconds, 1h30 or #POLL."),
        click.option("--from", "recording", metavar="FILE.slog", help="Ask a recording instead of the cluster."),
        click.option("--ssh", "host", default="", metavar="HOST", help="Ask Slurm on this host, by ssh."),
    ):
        command = option(command)
    return command


def picture(host: str, recording: str | None, at: str | None) -> tuple[Cluster, Recording | None]:
    """Return a cluster's state, now on `host` or in a recording at `at` (None: its end), and the recording."""
    if recording is None:
        if at is not None:
            raise click.UsageError("--at is a moment in a recording: name it with --from FILE.slog")
        return _asked(host, lambda slurm: slurm.snapshot()), None
    from sim.live.cluster.recording import Recording

    found = Recording(recording)
    return found.at(float("inf") if at is None else moment(at, found)), found


def forecasts_of(cluster: Cluster, host: str, recording: Recording | None) -> tuple[Board, Forecasts]:
    """Return the board (the data of forecasts) and the forecasts; without a recording they have ranges but no score."""
    from sim.live.forecast.board import DAY, Board
    from sim.live.forecast.forecast import seconds_of
    from sim.live.forecast.past import Earlier

    most = min(int(PATIENCE / seconds_of(cluster)), MOST_JUDGED)
    seen: Recording | Earlier
    if recording is None:
        seen = Earlier(cluster, _asked(host, lambda slurm: slurm.history(cluster.at - DAY)))
        times, board = seen.times(cluster.at - DAY, most), Board(every=0.0)
    else:
        seen, times, board = recording, judged(recording, cluster.at, most), Board(recording.history(), every=0.0)
    since = 0.0
    with progress(len(times), "earlier forecasts") as bar:
        for time in times:
            board.learn(seen.ended(since, time))  # most of them ended in polls that are not read here
            board.keep(seen.at(time))
            since = time
            if bar is not None:
                bar.update(1)
    board.learn(seen.ended(since, cluster.at))
    made = board.add(cluster)
    return board, made if recording is not None else replace(made, ours=None, slurm=None, inside=None)


def judged(recording: Recording, now: float, most: int) -> list[float]:
    """Return at most `most` polls of the day before `now`, preferably polls stored whole, which are read faster."""
    from sim.live.forecast.board import DAY

    whole = [time for time in recording.times(is_whole=True) if now - DAY <= time < now]
    times = whole if len(whole) >= most else [time for time in recording.times() if now - DAY <= time < now]
    return times[:: -(-len(times) // max(most, 1)) or 1]


def _asked(host: str, ask: Callable[[SlurmSource], T]) -> T:
    from sim.live.cluster.slurm.adapter import SlurmSource
    from sim.live.cluster.slurm.commands import Commands

    with closing(Commands(host)) as commands:
        return ask(SlurmSource(commands))


def moment(typed: str, recording: Recording) -> float:
    """Return seconds since 1970 for a date, seconds since 1970 or the first poll, or the number of a poll (#12)."""
    times = recording.times()
    meant: Moment = parse_moment(typed)
    if isinstance(meant, Step):
        return times[min(max(meant.number - 1, 0), len(times) - 1)] if times else 0.0
    if isinstance(meant, datetime):
        return meant.timestamp()  # a date without a zone is the reader's
    return meant if meant > 1e9 or not times else times[0] + meant


def job_of(cluster: Cluster, named: str, host: str, recording: Recording | None) -> ClusterJob:
    """Return the job that a user named, also among ended ones, or raise `NotThereError`."""
    job = cluster.find(named)
    if job is None:
        past = recording.ended(0.0, cluster.at) if recording else _asked(host, lambda slurm: slurm.past(named))
        job = replace(cluster, jobs=past).find(named)
    if job is None:
        own = [each.id for each in cluster.jobs if each.user == cluster.me and not each.has_ended]
        hint = f"; yours are {', '.join(own[:5])}" if own else ""
        where = " at that moment" if recording else ": Slurm never had it, or has forgotten it"
        raise NotThereError(f"no job {shortened(printable(named))!r}{where}{hint}")
    return job
