"""`schedscope present`: a lesson or a trace on a wall, and the notes to it in a second terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import click

from tui.cli import options
from tui.cli.terminal import columns, is_terminal, say
from tui.look.sheets import wrapped
from tui.sessions.presenting import Presented, presented

A_LOOK = 0.25
"""Seconds after which it is looked again what is presented."""


@click.command("present")
@click.argument("what", required=False, metavar="[LESSON|TRACE]")
@click.option("--scene", type=click.IntRange(1), default=1, metavar="N", help="Of a lesson: begin at this scene.")
@click.option("--policy", type=options.SPEC, help="Of a trace.")
@click.option("--notes", is_flag=True, help="Show the speaker notes of the lesson presented in another terminal.")
def command(what: str | None, scene: int, policy: str | None, notes: bool) -> Any:
    """Present a lesson or a trace on a projector: chart, caption and counter only.

    It is legible from 60x18 cells on, in a large font; f5 turns to the usual screen and back. In another terminal of
    the same user --notes follows it: what to say, what is asked with its answer, and what comes next.
    """
    if notes:
        if what is not None:
            raise click.UsageError("--notes follows what is presented: leave out LESSON")
        return _follow()
    if what is None:
        raise click.UsageError("what is to be presented? A lesson (schedscope learn lists them), or a trace")
    options.needs_terminal("presenting", "schedscope record and draw")
    from dataclasses import replace

    from tui.app import open_replay

    return open_replay(replace(_opening(what, scene, policy), projected=True))


def _opening(what: str, scene: int, policy: str | None) -> Any:
    from sim.lessons.course import course, found_lesson
    from sim.policies import parse_policy
    from sim.workload.source import Source
    from tui.replay.opening import lesson_opening, opening_of

    if what.endswith(".toml") or what in {lesson.name for lesson in course()}:
        return lesson_opening(found_lesson(what), scene - 1)
    return opening_of(Source(what), None if policy is None else parse_policy(policy))


def _follow() -> int:
    """Show the notes until the person has had enough; without a terminal once."""
    began = monotonic()
    shown: tuple[Presented | None, float] | None = None
    while True:
        now = presented()
        if not is_terminal(sys.stdout):
            _show(now, 0)
            return 0
        seconds = monotonic() - began
        if (now, seconds // 60) != shown:
            click.clear()
            _show(now, seconds)
            shown = now, seconds // 60
        sleep(A_LOOK)


def _show(now: Presented | None, seconds: float) -> None:
    say("\n".join(lines(now, columns(), seconds)))


def lines(now: Presented | None, width: int, seconds: float = 0) -> Iterator[str]:
    """Yield the notes wrapped to a width in columns; text of files stays plain text.

    >>> from tui.sessions.presenting import Presented
    >>> [*lines(Presented("L", "Why?", "It *waits*.", "Ask first.", 0, 2, next="Then"), 40)]
    ['L · 1/2 · Why?', '', 'Ask first.', '', 'The class reads: It *waits*.', '', 'Next: Then']
    """
    if now is None:
        yield "No presentation is running: start one with schedscope present LESSON in another terminal."
        return
    since = f" · {int(seconds // 60)} min" if seconds >= 60 else ""
    yield from _flowed(f"{now.lesson} · {now.index + 1}/{now.count}{since} · {now.title}", width)
    yield ""
    yield from _flowed(now.notes or "(no notes)", width)
    yield ""
    yield from _flowed(f"The class reads: {now.says}", width)
    if now.asks:
        yield ""
        yield from _flowed(f"Asked: {now.asks} {now.answer}", width)
    yield ""
    yield from _flowed(f"Next: {now.next}" if now.next else "This is the last scene.", width)


def _flowed(told: str, width: int) -> Iterator[str]:
    for row in wrapped(told, width):
        yield row.text
