"""Command `schedscope learn`: list, play, check and create lessons."""

from __future__ import annotations

import os
import sys

import click

from sim.support.formatting import count, printable
from tui.cli import options
from tui.cli.terminal import is_terminal, say

WIDTH = 100
"""Width of the solutions in columns."""


@click.command("learn")
@click.argument("lesson", required=False, metavar="[NAME|FILE]")
@click.option("--list", "listing", is_flag=True, help="List the lessons, on a terminal too.")
@click.option("--solutions", is_flag=True, help="Print the closing exercise with its solution; without NAME, of all.")
@click.option("--scene", type=click.IntRange(1), default=1, metavar="N", help="Begin at this scene.")
@click.option("--html", "page", metavar="FILE", help="Write the lesson as one HTML file for a course page.")
@click.option("--plain", is_flag=True, help="Write it as plain text, and read the answers from stdin, one a line.")
@click.option("--check", "checked", metavar="FILE", help="Check a lesson and report errors with file and line.")
@click.option("--new", metavar="FILE", help="Write a lesson of a session: a scene for each bookmark.")
@click.option("--from", "session", metavar="SESSION", help="The session, for --new: a file, a pasted line, or last.")
@click.option("--hand-in", "path", metavar="FILE.txt", help="Write your first answers for schedscope grade.")
def command(
    lesson: str | None, listing: bool, solutions: bool, scene: int, page: str | None, plain: bool,
    checked: str | None, new: str | None, session: str | None, path: str | None,
) -> int:  # fmt: skip
    """List the lessons, or play one of them, scene by scene.

    Space and the arrows, or a presenter's clicker, go from scene to scene; enter leaves the path, to look around, and
    comes back. Without a terminal the lessons are listed.
    """
    if (new is None) != (session is None):
        raise click.UsageError("--new FILE and --from SESSION go together")
    if sum(each is not None for each in (lesson, checked, new)) + listing > 1:
        raise click.UsageError("a lesson to play, --list, --check and --new: one of them at a time")
    if new is not None and session is not None:
        return _new(new, session)
    if checked is not None:
        return _check(checked)
    from sim.classroom.lessons.lesson import ORDER
    from sim.classroom.lessons.lesson_file import found_lesson

    if path is not None and (lesson is None or page is not None or plain):
        raise click.UsageError("--hand-in needs the name of a lesson that is played")
    if solutions:
        return _solutions(lesson)
    if (page is not None or plain) and (lesson is None or (page is not None and plain)):
        raise click.UsageError("--html FILE or --plain writes one lesson: name it")
    if page is not None and lesson:
        from tui.classroom.handout.handouts import save_lesson

        options.of_file("--html", page, lesson)
        save_lesson(found_lesson(lesson), page)
        return 0
    if plain and lesson:
        from tui.classroom.handout.plain_lesson import read_aloud

        return read_aloud(found_lesson(lesson), scene - 1, sys.stdin)
    if lesson is None and not listing and is_terminal(sys.stdout):
        options.needs_terminal("the menu of lessons", "schedscope learn > FILE, which lists them")
        from tui.app import open_replay

        return open_replay(None, lessons=True)
    if lesson is None:
        return _list()
    found = found_lesson(lesson)
    if path is not None and (found.recording or found.name not in ORDER):
        raise click.UsageError("--hand-in is for the built-in lessons, except those about a recording")
    options.needs_terminal("a lesson", "schedscope learn NAME --plain or --html FILE")
    if found.recording:
        from tui.classroom.recorded_lesson import open_recorded

        return open_recorded(found, scene - 1)
    from tui.app import open_replay
    from tui.classroom.opening import lesson_opening

    if path is not None:
        from tui.classroom.handing_in import open_to_hand_in

        return open_to_hand_in(found, scene - 1, path)
    return open_replay(lesson_opening(found, scene - 1))


def _list() -> int:
    from sim.classroom.lessons.lesson import PAPERS
    from sim.classroom.lessons.lesson_file import course

    paper = None
    for number, each in enumerate(course(), 1):
        if each.paper != paper:
            paper = each.paper
            say(("" if number == 1 else "\n") + PAPERS.get(paper, paper))
        say(f"{number:>4}  {each.name:<18}{each.title}")
    return 0


def _solutions(named: str | None) -> int:
    from sim.classroom.lessons.lesson_file import course, found_lesson
    from sim.classroom.lessons.recorded import performance_of
    from tui.classroom.lesson_lines import markdown

    for lesson in course() if named is None else [found_lesson(named)]:
        made = performance_of(lesson)
        made.staged()
        say(f"{lesson.name}: {printable(lesson.title)}")
        for text in (lesson.exercise or "(no exercise)", made.solution() or "(no solution)"):
            for row in ("", *(line.text for line in markdown(text, WIDTH))):
                say(printable(row))
        say("")
    return 0


def _new(path: str, named: str) -> int:
    from sim.classroom.lessons.drafts import lesson_of
    from sim.support.errors import SchedscopeError
    from sim.support.files import write_whole
    from tui.sessions.session_conversion import found_session

    if not path.endswith(".toml") or os.path.exists(path):
        raise SchedscopeError(f"{path}: expected the name of a new file that ends in .toml")
    text = lesson_of(found_session(named), path)
    with write_whole(path) as file:
        file.write(text)
    click.echo(f"{path} written: add texts to its scenes, then run: schedscope learn {path}")
    return _check(path)


def _check(path: str) -> int:
    from sim.classroom.lessons.recorded import check

    staged, wrong = check(path)
    for problem in wrong:
        click.echo(printable(f"{problem}"), err=True)
    if wrong:
        return 1
    asked = sum(scene.question is not None for scene in staged)
    click.echo(f"{count(len(staged), 'scene')}, {count(asked, 'question')}: no errors")
    return 0
