"""Command `schedscope serve`: offer the replay to web browsers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from sim.support.errors import ParameterError, SchedscopeError
from sim.support.optional_imports import extra
from tui.cli import options as cli
from tui.look.palette import LOOKS

OPTIONS = (
    click.option(
        "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for other machines."
    ),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 picks a free one."
    ),
    click.option("--public", metavar="URL", help="The address that others use, where that is another one (a proxy's)."),
    click.option(
        "--visitors", type=click.IntRange(1, 500), default=40, show_default=True, help="Maximum number of visitors."
    ),
    click.option(
        "--per-address",
        type=click.IntRange(1, 500),
        metavar="N",
        help="Maximum for one network address: half of --visitors, or all of them with --public.",
    ),
)


def of_server(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def needs_server() -> None:
    extra("aiohttp", "a server", "web")
    extra("textual_serve", "a server", "web")
    extra("segno", "a server", "web")
    if not hasattr(os, "fork"):
        raise SchedscopeError("serve needs a system that can fork: Linux, macOS or WSL")


@click.command("serve")
@click.argument("traces", nargs=-1, metavar="[TRACE ...]")
@click.option("--lesson", metavar="NAME|FILE", help="A lesson instead of a trace.")
@click.option("--play", is_flag=True, help="A game: the same busy hours for all, with a list of the best.")
@click.option("--tasks", is_flag=True, help="Inverse puzzles, and for the class who has solved which.")
@click.option("--teacher", is_flag=True, help="Show the class at a second address: places, answers, and the wall.")
@click.option("--csv", "table", metavar="FILE", help="With --teacher: write the answers there at the end.")
@click.option("--policy", metavar="SPEC", help="Of ours: name or name:key=value,key=value.")
@of_server
@click.option("--idle", type=click.FloatRange(1, 1440), default=30, show_default=True, metavar="MINUTES")
@click.option("--present", is_flag=True, help="Share one screen, controlled through the presenter link.")
@click.option("--size", default="100x30", metavar="CxR", callback=cli.parsed_size, help="Of the common screen.")
@click.option("--theme", type=click.Choice(list(LOOKS)), default="dark", show_default=True)
@cli.of_workload
def command(
    traces: tuple[str, ...], lesson: str | None, play: bool, tasks: bool, teacher: bool, table: str | None,
    policy: str | None, host: str, port: int, public: str | None, visitors: int, per_address: int | None, idle: float,
    present: bool, size: tuple[int, int], theme: str, **given: Any,
) -> None:  # fmt: skip
    """Serve the replay to browsers: a process for each visitor, or one screen for all.

    The first line on stdout is the address with its code, with --present the second line is the presenter's address.
    The address alone asks for the code. Lessons and games are plain pages, made for phones; larger screens may choose
    the terminal.

    Visitors reach nothing of this machine but the traces named here; what they save they download, and drop on the page
    to come back. A visit outlives its connection by ten minutes; its place is kept for a day.

    With --lesson NAME --teacher two more addresses follow: the teacher's view, with what students answer and which of
    them are stuck, and the wall. With --present students answer in their own browsers; the presenter's key I shows the
    answers as bars.
    """
    if lesson is not None and traces:
        raise click.UsageError("--lesson brings its own trace: leave out TRACE")
    if play and (lesson is not None or present or len(traces) > 1):
        raise click.UsageError("--play takes one TRACE at most, and neither --lesson nor --present")
    if tasks and (traces or lesson is not None or play or present):
        raise click.UsageError("--tasks takes no TRACE, and neither --lesson nor --play nor --present")
    if teacher and lesson is None and not (play or tasks):
        raise click.UsageError("--teacher shows a class: add --lesson NAME, --play or --tasks")
    if table is not None and not teacher:
        raise click.UsageError("--csv writes what --teacher shows: add --teacher")
    needs_server()
    os.environ.update(TEXTUAL_COLOR_SYSTEM="truecolor", COLORTERM="truecolor", TEXTUAL_FPS="30")
    os.environ.pop("NO_COLOR", None)
    from tui.classroom.web.serving import Wanted, serve

    game = _game(traces, given) if play else None
    openings = () if play or tasks else _openings(traces, lesson, policy, given)
    shown = size if present else None
    wanted = Wanted(host, port, public, visitors, per_address, idle * 60, shown, theme, teacher, table)
    serve(openings, wanted, game, tasks)


def _game(traces: tuple[str, ...], given: dict[str, Any]) -> Any:
    from sim.classroom.play.game import SAMPLE, afternoon
    from sim.workload.source import Source

    trace = traces[0] if traces else SAMPLE
    return afternoon(Source.of_options(trace, given).read()[1], given["seed"] or 0)


def _openings(traces: tuple[str, ...], lesson: str | None, policy: str | None, given: dict[str, Any]) -> Any:
    from sim.policies import parse_policy
    from sim.policies.own.naming import code_in
    from sim.workload.source import Source
    from tui.classroom.opening import lesson_opening
    from tui.replay.opening import opening_of

    if policy is not None and code_in(policy):
        raise ParameterError(f"--policy {policy}: serve allows only the built-in policies")
    if lesson is not None:
        from sim.classroom.lessons.lesson_file import found_lesson

        return (lesson_opening(found_lesson(lesson)),)
    chosen = None if policy is None else parse_policy(policy)
    return tuple(opening_of(Source.of_options(trace, given), chosen) for trace in traces)
