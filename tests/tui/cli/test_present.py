"""`schedscope present`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.lessons.course import found_lesson
from sim.lessons.performance import Performance
from sim.lessons.walk import Walk
from tests.tui.cli.program import error, schedscope
from tui.cli.present import lines
from tui.sessions.autosave import STATE
from tui.sessions.presenting import Presented, tell


def test_notes_follow_what_is_presented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE, str(tmp_path / "own"))
    assert "No presentation is running" in schedscope("present", "--notes").stdout
    walk = Walk.of(Performance(found_lesson("backfilling")), 2)
    tell(walk)
    done = schedscope("present", "--notes")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"3/{len(walk.scenes)} · {walk.staged.title}" in done.stdout
    assert walk.staged.question is not None
    assert walk.staged.question.told.split()[0] in done.stdout


def test_notes_are_text_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = Presented("\x1b[2J", "[bold]x[/]", "\x1b]0;t\x07", "a\nb", 0, 1)
    from tui.cli import present

    monkeypatch.setattr(present, "presented", lambda: evil)
    shown = schedscope("present", "--notes").stdout
    assert "\x1b" not in shown
    assert "[bold]x[/]" in shown
    assert max(len(row) for row in lines(evil, 40)) <= 40


def test_what_is_missing_is_asked_for() -> None:
    assert "what is to be presented" in error("present")[1]
    assert "leave out LESSON" in error("present", "backfilling", "--notes")[1]
    assert "needs a terminal" in error("present", "backfilling")[1]
