"""Command `schedscope live`: watch and record a real cluster."""

from __future__ import annotations

import os
import secrets
import signal
import sys
import time
from contextlib import ExitStack, closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sim.support.errors import ClusterError, FileError, ParameterError, SchedscopeError
from sim.support.formatting import count, listed, parse_time, quoted, span
from tui.cli import options
from tui.cli.terminal import say

if TYPE_CHECKING:
    from sim.live.cluster.recording import PollRecorder
    from sim.live.cluster.values import ClusterSource

ENDING = ("SIGTERM", "SIGHUP")
"""Names of the signals that end a recording without a screen."""
KEY = "pseudonyms.key"
"""Name of the file with the secret for pseudonyms, in the folder of autosaves."""


def _length(ctx: click.Context, option: click.Parameter, given: str) -> float:
    return parse_time(given)


@click.command("live")
@click.option("--me", "is_mine", is_flag=True, help="Only jobs of the user who asks, in the queue.")
@click.option("--partition", default="", metavar="P", help="Only jobs of this partition, in the queue.")
@click.option(
    "--since", default="1d", metavar="TIME", callback=_length, help="Begin of the past, by the accounting (1d)."
)
@click.option("--every", default=60.0, type=click.FloatRange(0), metavar="S", help="Seconds between polls (60, >= 10).")
@click.option("--ssh", "host", default="", metavar="HOST", help="Ask Slurm on this host, by ssh.")
@click.option("-o", "--output", "out", metavar="FILE.slog", help="Record all polls in this file.")
@click.option("--headless", is_flag=True, help="Record without a screen, until interrupted; needs -o.")
@click.option("--anonymise", is_flag=True, help="Record pseudonyms for users, accounts and job names.")
@click.option(
    "--read",
    "files",
    multiple=True,
    metavar="PATH",
    help="Record files (-o) instead: squeue --json, one or a folder of them over time, with sacct -P and scontrol.",
)
@click.option("--polls", type=click.IntRange(1), metavar="N", help="With --headless: stop after so many polls.")
def command(
    is_mine: bool, partition: str, since: float, every: float, host: str, out: str | None, headless: bool,
    anonymise: bool, files: tuple[str, ...], polls: int | None,
) -> int:  # fmt: skip
    """Watch a real cluster: its jobs, its nodes, and Slurm's own plan, on one chart.

    It asks as an ordinary user may, once a minute or as --every says, never more often than every 10 s, and less often
    while answers are slow. A recording (-o) can be watched later (schedscope watch FILE.slog) or copied, also while it
    grows.
    """
    options.of_file("-o", out)
    if anonymise and not out:
        raise click.UsageError("--anonymise is about a recording: name it with -o FILE.slog")
    if files and not out:
        raise click.UsageError("--read makes a recording: name it with -o FILE.slog")
    if headless and not out:
        raise click.UsageError("--headless records: name the recording with -o FILE.slog")
    if polls and not headless:
        raise click.UsageError("--polls goes with --headless")
    if files and out:
        return _read(files, out, anonymise)
    if partition:
        _known_partition(partition, host)
    if not headless:
        options.needs_terminal("the live screen", "schedscope live --headless, why and when")
    from sim.live.cluster.recording import PollRecorder
    from sim.live.cluster.slurm.adapter import SlurmSource
    from sim.live.cluster.slurm.commands import Commands

    with ExitStack() as stack:
        commands = stack.enter_context(closing(Commands(host)))
        recorder = None
        if out:
            recorder = stack.enter_context(closing(PollRecorder(out, secret() if anonymise else None)))
        source = SlurmSource(commands)
        if headless and recorder is not None:
            _exit_on_signals(stack)
            return _record(source, recorder, every, since, polls)
        from sim.live.cluster.recording import Scratch
        from tui.live.program import open_live
        from tui.live.scene import Listing, LiveState
        from tui.live.watch import Live

        state = LiveState(listing=Listing(mine=2 if is_mine else 1, partition=partition))
        return open_live(Live(source, every, since, recorder, Scratch()), state)


def _known_partition(name: str, host: str) -> None:
    """Raise `ParameterError` unless the cluster has this partition; without an answer the screen goes on asking."""
    from sim.live.cluster.slurm.commands import Commands
    from sim.live.cluster.slurm.text import partitions

    with closing(Commands(host)) as commands, suppress(ClusterError):
        names = [each.name for each in partitions(commands.ask("scontrol", "-o", "show", "partition"))]
        if names and name not in names:
            raise ParameterError(f"no partition {quoted(name)}; there are {listed(names)}")


def _record(source: ClusterSource, recorder: PollRecorder, every: float, since: float, polls: int | None) -> int:
    """Record polls and the jobs of the last `since` seconds; a silent controller is asked less often, told once."""
    from sim.live.cluster.changes import changes
    from sim.live.cluster.pace import Pace

    pace, before, failed = Pace.of(every), None, ""
    while polls is None or polls > 0:
        begun = time.monotonic()
        try:
            cluster = source.snapshot()
        except ClusterError as error:
            if str(error) != failed:
                failed = str(error)
                say(f"{time.strftime('%H:%M:%S')} no answer: {error}; trying again")
            pace = pace.after(None)
        else:
            if before is None:
                recorder.add_history(source.history(cluster.at - since))
            recorder.add(cluster)
            runs, waits = len(cluster.running), len(cluster.queue)
            many = count(len(changes(before, cluster)), "event")
            many += f", {count(cluster.unread, 'line')} unreadable" if cluster.unread else ""
            say(f"{time.strftime('%H:%M:%S')} {runs} run, {waits} wait, {many}; answered in {span(cluster.cost)}")
            pace, before, failed = pace.after(cluster.cost), cluster, ""
        polls = None if polls is None else polls - 1
        if polls != 0:
            time.sleep(pace.left(time.monotonic() - begun))
    return 0


def _read(files: tuple[str, ...], out: str, anonymise: bool) -> int:
    """Make a recording of files with answers of Slurm."""
    from sim.live.cluster.recording import PollRecorder
    from sim.live.cluster.slurm.dumps import read_dumps

    if os.path.exists(out):
        raise FileError("exists already; name a new file for the recording", out)
    found, ignored = read_dumps([Path(file) for file in files])
    with closing(PollRecorder(out, secret() if anonymise else None)) as recorder:
        recorder.add_history(found.history())
        for cluster in found.pictures():
            recorder.add(cluster)
    times, left = sorted(found.polls), f"; nothing was read from {count(ignored, 'file')}" if ignored else ""
    gap = max((after - before for before, after in pairwise(times)), default=0.0)
    apart = f", at most {span(gap)} apart" if gap else ""
    say(f"{out}: {count(len(times), 'poll')} in {span(times[-1] - times[0])}{apart}, "
        f"{count(len(found.ended), 'job')} of sacct{left}")  # fmt: skip
    return 0


def _exit_on_signals(stack: ExitStack) -> None:
    """Let `ENDING` end the program like an exit, so that files are closed; an ignored signal (nohup) stays so."""

    def end(number: int, frame: object) -> None:
        sys.exit(128 + number)

    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        if signal.getsignal(number) is not signal.SIG_IGN:
            stack.callback(signal.signal, number, signal.signal(number, end))


def secret() -> bytes:
    """Return this user's secret for pseudonyms; the first call creates it, in a file that only the user can read."""
    from tui.sessions.autosave import state_folder

    path = state_folder() / KEY
    try:
        return _kept(path)
    except OSError as error:
        raise SchedscopeError(f"{path}: no secret for pseudonyms: {error.strerror or error}") from None


def _kept(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with os.fdopen(file, "wb") as new:
        new.write(secrets.token_bytes(32))
    return path.read_bytes()
