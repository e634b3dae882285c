"""Command `schedscope present`: show a lesson or a trace on a projector, or its notes in a second terminal."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from time import sleep, time
from typing import Any

import click
from click.core import ParameterSource

from tui.classroom.cli.serve import needs_server, of_server
from tui.classroom.presenting import presented
from tui.cli import options
from tui.cli.terminal import columns, is_terminal, say

A_LOOK = 0.25
"""Seconds after which the notes check again which scene is shown."""


A_CLASS = 6 * 3600.0
"""Seconds without input after which the browser of a student is disconnected."""


@click.command("present")
@click.argument("what", required=False, metavar="[LESSON|TRACE]")
@click.option("--scene", type=click.IntRange(1), default=1, metavar="N", help="Of a lesson: begin at this scene.")
@click.option("--policy", type=options.SPEC, help="Of a trace.")
@click.option("--notes", is_flag=True, help="Show the speaker notes of the lesson presented in another terminal.")
@click.option("--students", is_flag=True, help="Let students follow and answer in their browsers; I shows the answers.")
@click.option("--csv", "table", metavar="FILE", help="With --students: write the answers there at the end.")
@of_server
def command(
    what: str | None, scene: int, policy: str | None, notes: bool, students: bool, table: str | None, **address: Any
) -> Any:
    """Present a lesson or a trace on a projector: chart, caption and counter only.

    It is legible from 60x18 cells on, in a large font; f5 turns to the usual screen and back. In another terminal of
    the same user --notes follows it: what to say, the question with its answer and the reason, two clocks, and the next
    scene.

    With --students the program is also a server, for this machine only without --host, and begins with the students'
    address. I shows the answers to the question as bars that grow, I again which are right, and the address where there
    is no question. Students see the same screen, and may continue on their own from there.
    """
    _check(students, table)
    if notes:
        if what is not None:
            raise click.UsageError("--notes follows what is presented: leave out LESSON")
        return _follow()
    if what is None:
        raise click.UsageError("what is to be presented? A lesson (schedscope learn lists them), or a trace")
    options.needs_terminal("presenting", "schedscope record and draw")
    if students:
        return _with_students(_opening(what, scene, policy), table, address)
    from dataclasses import replace

    from tui.app import open_replay

    return open_replay(replace(_opening(what, scene, policy), projected=True))


def _check(students: bool, table: str | None) -> None:
    given = click.get_current_context().get_parameter_source
    asked = [
        f"--{name}"
        for name in ("host", "port", "public", "visitors", "per-address")
        if given(name.replace("-", "_")) is ParameterSource.COMMANDLINE
    ]
    if not students and (asked or table is not None):
        raise click.UsageError(f"{(asked or ['--csv'])[0]} is for the students' browsers: add --students")


def _with_students(opening: Any, table: str | None, address: dict[str, Any]) -> int:
    needs_server()
    from tui.classroom.web.podium import present
    from tui.classroom.web.serving import Wanted

    size = get_terminal_size()
    wanted = Wanted(**address, idle=A_CLASS, present=(size.columns, size.lines), theme="dark", table=table)
    return present(opening, wanted)


def _opening(what: str, scene: int, policy: str | None) -> Any:
    from sim.classroom.lessons.lesson import ORDER
    from sim.policies import parse_policy
    from sim.support.errors import NotThereError, ParameterError, near
    from sim.support.formatting import quoted
    from sim.workload.samples import captions
    from sim.workload.source import Source, find
    from tui.classroom.opening import named_lesson
    from tui.replay.opening import opening_of

    if (lesson := named_lesson(what, scene - 1)) is not None:
        return lesson
    try:
        find(what)
    except NotThereError:
        names = [*ORDER, *(name for name, _ in captions())]
        raise ParameterError(f"no lesson and no trace {quoted(what)}{near(what, names)}") from None
    return opening_of(Source(what), None if policy is None else parse_policy(policy))


def _follow() -> int:
    from tui.classroom.cli.notes import Notes, lines

    if not is_terminal(sys.stdout):
        say("\n".join(line.text.rstrip() for line in lines(presented(), columns(), time())))
        return 0
    notes = Notes()
    while True:
        notes.show(presented(), time())
        sleep(A_LOOK)
