"""`schedscope serve`: the replay in browsers."""

from __future__ import annotations

import os
from typing import Any

import click

from sim.errors import ParameterError, SchedscopeError
from sim.optional_imports import extra
from tui.cli import options as cli
from tui.look.palette import LOOKS


@click.command("serve")
@click.argument("traces", nargs=-1, metavar="[TRACE ...]")
@click.option("--lesson", metavar="NAME|FILE", help="A lesson instead of a trace.")
@click.option("--policy", metavar="SPEC", help="Of ours: name or name:key=value,key=value.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for other machines."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 picks a free one."
)
@click.option("--public", metavar="URL", help="The address that others use, where that is another one (a proxy's).")
@click.option(
    "--visitors", type=click.IntRange(1, 500), default=40, show_default=True, help="Maximum number of visitors."
)
@click.option("--idle", type=click.FloatRange(1, 1440), default=30, show_default=True, metavar="MINUTES")
@click.option("--present", is_flag=True, help="Share one screen, controlled through the presenter link.")
@click.option("--size", default="100x30", metavar="CxR", callback=cli.parsed_size, help="Of the common screen.")
@click.option("--theme", type=click.Choice(list(LOOKS)), default="dark", show_default=True)
@cli.of_workload
def command(
    traces: tuple[str, ...], lesson: str | None, policy: str | None, host: str, port: int, public: str | None,
    visitors: int, idle: float, present: bool, size: tuple[int, int], theme: str, **given: Any,
) -> None:  # fmt: skip
    """Serve the replay to browsers: a process for each visitor, or one screen for all.

    The first line on stdout is the address with its token, with --present the second line is the presenter's address.
    Visitors reach nothing of this machine but the traces named here; what they save they download, and drop on the page
    to come back. A visit outlives its connection by ten minutes; its place is kept for a day.
    """
    if lesson is not None and traces:
        raise click.UsageError("--lesson brings its own trace: leave out TRACE")
    extra("aiohttp", "a server", "web")
    extra("textual_serve", "a server", "web")
    if not hasattr(os, "fork"):
        raise SchedscopeError("serve needs a system that can fork: Linux, macOS or WSL")
    os.environ.update(TEXTUAL_COLOR_SYSTEM="truecolor", COLORTERM="truecolor", TEXTUAL_FPS="30")
    os.environ.pop("NO_COLOR", None)
    from tui.web.serving import Wanted, serve

    openings = _openings(traces, lesson, policy, given)
    serve(openings, Wanted(host, port, public, visitors, idle * 60, size if present else None, theme))


def _openings(traces: tuple[str, ...], lesson: str | None, policy: str | None, given: dict[str, Any]) -> Any:
    """Return the choices, of which the first is opened."""
    from sim.policies import parse_policy
    from sim.policies.own.naming import code_in
    from sim.workload.source import Source
    from tui.replay.opening import lesson_opening, opening_of

    if policy is not None and code_in(policy):
        raise ParameterError(f"--policy {policy}: serve allows only the built-in policies")
    if lesson is not None:
        from sim.lessons.course import found_lesson

        return (lesson_opening(found_lesson(lesson)),)
    chosen = None if policy is None else parse_policy(policy)
    return tuple(opening_of(Source.of_options(trace, given), chosen) for trace in traces)
