"""`schedscope learn`: lessons, to play, to check and to make."""

from __future__ import annotations

import sys

import click

from sim.words import count, printable
from tui.cli import options


@click.command("learn")
@click.argument("lesson", required=False, metavar="[NAME|FILE]")
@click.option("--scene", type=click.IntRange(1), default=1, metavar="N", help="Begin at this scene.")
@click.option("--check", "checked", metavar="FILE", help="Say with file and line what does not hold in a lesson.")
def command(lesson: str | None, scene: int, checked: str | None) -> int:
    """Lessons: what there is to learn, or one of them, scene by scene.

    Space and the arrows, or a presenter's clicker, go from scene to scene; enter leaves the path, to look around, and
    comes back. Without a terminal the lessons are listed.
    """
    if checked is not None:
        return _check(checked)
    from sim.lessons.course import found_lesson
    from tui.replay.opening import lesson_opening

    if lesson is None and sys.stdout.isatty():
        options.needs_terminal("the menu of lessons", "schedscope learn > FILE, which lists them")
        from tui.app import open_replay

        return open_replay(None, lessons=True)
    if lesson is None:
        return _list()
    found = found_lesson(lesson)
    options.needs_terminal("a lesson", "schedscope learn, which lists them, and learn --check")
    from tui.app import open_replay

    return open_replay(lesson_opening(found, scene - 1))


def _list() -> int:
    """By paper, in the order of the course."""
    from sim.lessons.course import course
    from sim.lessons.lesson import PAPERS

    paper = None
    for each in course():
        if each.paper != paper:
            paper = each.paper
            click.echo(("" if each is course()[0] else "\n") + PAPERS.get(paper, paper))
        click.echo(f"  {each.name:<18}{each.title}")
    return 0


def _check(path: str) -> int:
    from sim.lessons.check import check

    staged, wrong = check(path)
    for problem in wrong:
        click.echo(printable(f"{problem}"), err=True)
    if wrong:
        return 1
    asked = sum(scene.question is not None for scene in staged)
    click.echo(f"{count(len(staged), 'scene')}, {count(asked, 'question')}: all of it holds")
    return 0
