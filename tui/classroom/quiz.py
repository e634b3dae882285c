"""Program that asks the questions of a quiz."""

from __future__ import annotations

import sys

from sim.classroom.grading.hand_in import HandIn
from sim.classroom.lessons.quiz import Quiz
from tui.app import run_app
from tui.classroom.handing_in import HandingIn
from tui.classroom.opening import quiz_opening
from tui.memory import give_back_at_once
from tui.shutdown import is_gone


class QuizApp(HandingIn):
    """App that asks one question of a quiz after another."""

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
