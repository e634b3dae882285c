"""`schedscope present`: a lesson or a trace on a wall, and the notes to it in a second terminal."""

from __future__ import annotations

import sys
from time import sleep, time
from typing import Any

import click

from tui.cli import options
from tui.cli.terminal import columns, is_terminal, say
from tui.sessions.presenting import presented

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
    the same user --notes follows it: what to say, the question with its answer and the reason, two clocks, and the next
    scene.
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
    """Show the notes until the user has had enough; without a terminal, once."""
    from tui.cli.notes import Notes, lines

    if not is_terminal(sys.stdout):
        say("\n".join(line.text.rstrip() for line in lines(presented(), columns(), time())))
        return 0
    notes = Notes()
    while True:
        notes.show(presented(), time())
        sleep(A_LOOK)
