"""Apps that ask, a lesson or a quiz: after each answer they write a file to hand in, if one is wanted."""

from __future__ import annotations

import sys
from typing import Any

from textual import on

from sim.classroom.grading.hand_in import HandIn
from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.quiz import Quiz
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, printable
from tui.app import Schedscope, run_app
from tui.classroom.guide import walk_of
from tui.classroom.opening import lesson_opening, quiz_opening
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
        return None if self.replay is None else walk_of(self.replay.state.guide)

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


class QuizApp(HandingIn):
    def __init__(self, quiz: Quiz, path: str | None = None) -> None:
        level = quiz.level + 1 if quiz.is_level_kept else 0
        handed = HandIn.begun(seed=quiz.seed, policy=quiz.policy, level=level)
        super().__init__(quiz_opening(quiz).prepare(), handed=handed, path=path)
        self.quiz = quiz

    def after_lesson(self, is_right: bool | None) -> None:
        """Open the next question, or exit after the last one."""
        if self.walk is not None:
            self.handed = self.handed.after(self.walk)
        quiz = self.quiz = self.quiz.after(is_right)
        if quiz.is_over:
            self.exit()
        else:
            self.open(lambda: quiz_opening(quiz))

    @property
    def score(self) -> str:
        """Return the score as text; it includes the current question if the user has answered it."""
        walk = self.walk
        return (self.quiz if walk is None or self.quiz.is_over else self.quiz.after(walk.is_right)).told


def open_quiz(quiz: Quiz, path: str | None = None) -> int:
    """Ask the questions of a quiz until it is over or the user quits, then print the score; return the exit code.

    The answers to hand in go into the file at `path`.
    """
    give_back_at_once()
    app = QuizApp(quiz, path)
    code = run_app(app)
    if not is_gone():
        sys.stdout.write(f"{app.score}\n{app.told}")
    return code
