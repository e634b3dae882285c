"""App that writes its user's answers into a file to hand in, after each of them."""

from __future__ import annotations

import sys
from typing import Any

from textual import on

from sim.classroom.grading.hand_in import HandIn
from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, printable
from tui.app import Schedscope, run_app
from tui.classroom.guide import walk_of
from tui.classroom.opening import lesson_opening
from tui.memory import give_back_at_once
from tui.screens.replay.messages import SceneChanged
from tui.shutdown import is_gone

QUIZ = "quiz"
"""Name of the lesson that a question of a quiz is"""


class HandingIn(Schedscope):
    """App with answers to hand in, if it has a file for them."""

    def __init__(self, *given: Any, handed: HandIn, path: str | None) -> None:
        super().__init__(*given)
        self.handed, self._path, self._written = handed, path, handed
        self._write(handed)

    def _write(self, handed: HandIn) -> None:
        if self._path is not None:
            self._written = handed
            handed.write(self._path)

    @property
    def walk(self) -> Walk | None:
        return None if self.replay is None else walk_of(self.replay.state)

    @on(SceneChanged)
    def _write_answers(self) -> None:
        walk = self.walk
        if walk is not None and walk.first and walk.lesson.name == (self.handed.lesson or QUIZ):
            try:
                self._write(self.handed.after(walk))
            except SchedscopeError as error:
                self.notify(str(error), severity="error", timeout=12)

    @property
    def told(self) -> str:
        """Return a line on the file; "" without one."""
        many = sum(map(bool, self._written.answers))
        return "" if self._path is None else printable(f"{count(many, 'answer')} to hand in: {self._path}") + "\n"


def open_to_hand_in(lesson: Lesson, scene: int, path: str) -> int:
    """Show a lesson, and write the answers to hand in; return the exit code."""
    give_back_at_once()
    app = HandingIn(lesson_opening(lesson, scene).prepare(), handed=HandIn.begun(lesson.name), path=path)
    code = run_app(app)
    if not is_gone():
        sys.stdout.write(app.told)
    return code
