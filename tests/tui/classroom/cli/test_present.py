"""Also tests tui.classroom.cli.notes."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.walk import Walk
from sim.support.errors import ParameterError
from tests.tui.cli.program import error, schedscope
from tui.chart.cells.grid import Size
from tui.classroom.cli.notes import Notes, lines, picture
from tui.classroom.cli.present import _opening
from tui.classroom.presenting import Presented, tell
from tui.look.palette import LOOKS
from tui.sessions.autosave import STATE


def test_notes_follow_what_is_presented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE, str(tmp_path / "own"))
    assert "No presentation is running" in schedscope("present", "--notes").stdout
    walk = Walk.of(Performance(found_lesson("backfilling")), 2)
    tell(walk)
    done = schedscope("present", "--notes")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"3/{len(walk.scenes)}" in done.stdout
    assert walk.staged.title in done.stdout
    assert walk.staged.question is not None
    assert walk.staged.question.told.split()[0] in done.stdout


def test_notes_are_text_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = Presented("\x1b[2J", "[bold]x[/]", "\x1b]0;t\x07", "a\nb", 0, 1)
    from tui.classroom.cli import present

    monkeypatch.setattr(present, "presented", lambda: evil)
    shown = schedscope("present", "--notes").stdout
    assert "\x1b" not in shown
    assert "[bold]x[/]" in shown
    assert max(len(row.text) for row in lines(evil, 40, 0.0)) <= 40


def test_notes_draw_the_next_scene_and_run_their_clocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "50")
    walk = Walk.of(Performance(found_lesson("backfilling")), 2)
    now = Presented.of(walk, 1000.0)
    drawn = StringIO()
    console = Console(file=drawn, force_terminal=True, color_system="truecolor", width=80)
    notes = Notes(console)
    notes.show(now, 1061.0)
    told = drawn.getvalue()
    assert "1:01 since the start" in told
    rows = [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", row) for row in told.split("\n")]
    assert "  Next: The second way" in rows
    assert max(map(len, rows)) <= 80
    assert "J4" in told.rpartition("Next: ")[2]
    assert walk.staged.then.split()[0] in told


def test_lessons_that_are_not_there_are_refused() -> None:
    assert picture("no-such-lesson", 1, LOOKS["dark"], Size(40, 8)) == []
    assert picture("backfilling", 99, LOOKS["dark"], Size(40, 8)) == []
    with pytest.raises(ParameterError, match="no lesson and no trace 'backfiling'; did you mean 'backfilling'"):
        _opening("backfiling", 1, None)
    assert "what is to be presented" in error("present")[1]
    assert "leave out LESSON" in error("present", "backfilling", "--notes")[1]
    assert "needs a terminal" in error("present", "backfilling")[1]
