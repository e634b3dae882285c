"""Answers of a quiz or a lesson as a text file to hand in. Its answers are given again, and judged by the engine."""

from __future__ import annotations

import getpass
import json
from dataclasses import dataclass, replace
from pathlib import Path

from sim.classroom.lessons.lesson import ORDER
from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.quiz import LEVELS, Quiz
from sim.classroom.lessons.walk import Walk
from sim.policies.own.naming import code_in
from sim.support.errors import FileError
from sim.support.files import TextKind, refuse_replacing, write_whole

HEAD = "# schedscope: answers to hand in\n"
LEVELS_KEPT = range(len(LEVELS) + 1)
MOST = 200
"""Largest number of answers that are judged"""


HAND_IN = TextKind("hand-in", 2**16, FileError)


@dataclass(frozen=True)
class HandIn:
    """Answers of one person: of a lesson if `lesson` is its name, else of the quiz with this seed."""

    name: str
    lesson: str = ""
    seed: int = 0
    policy: str = ""
    level: int = 0
    """Level of all questions of the quiz, 1 to 5; 0 if it follows the answers"""
    answers: tuple[str, ...] = ()

    @classmethod
    def begun(cls, lesson: str = "", seed: int = 0, policy: str = "", level: int = 0) -> HandIn:
        return cls(getpass.getuser(), lesson, seed, policy, level)

    def after(self, walk: Walk) -> HandIn:
        """Return the hand-in with the first answers of a walk: all of a lesson, one more of a quiz."""
        known = dict(walk.first)
        asked = [index for index, scene in enumerate(walk.scenes) if scene.question is not None]
        earlier = () if self.lesson else self.answers
        return replace(self, answers=(*earlier, *(known.get(index, "") for index in asked)))

    def write(self, path: str) -> None:
        refuse_replacing(path, "hand-in", HEAD.encode())
        quiz = {"seed": self.seed, "policy": self.policy, "level": self.level}
        about = {"lesson": self.lesson} if self.lesson else quiz
        values = {"name": self.name, **about, "answers": self.answers}
        with write_whole(path) as file:
            file.write(HEAD + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))


def read_hand_in(path: Path) -> HandIn:
    """Return the hand-in in a file; raise a `FileError` if it is something else. A count in it means nothing."""
    found = HAND_IN.toml(HAND_IN.read(path), path)
    level = found.get("level", 0)
    match found:
        case {"name": str(name), "lesson": str(lesson), "answers": list(answers)} if lesson in ORDER:
            made = HandIn(name, lesson=lesson)
        case {"name": str(name), "seed": int(seed), "answers": list(answers)} if seed >= 0 and level in LEVELS_KEPT:
            made = HandIn(name, seed=seed, policy=str(found.get("policy", "")), level=int(level))
        case _:
            raise FileError("is no hand-in: expected a name, a lesson or a seed, and answers", path)
    if code_in(made.policy):
        raise FileError(f"its policy is code: {made.policy:.60}", path)
    if len(answers) > MOST or not all(isinstance(each, str) for each in answers):
        raise FileError(f"its answers are expected to be at most {MOST} texts", path)
    return replace(made, answers=tuple(answers))


def counted(handed: HandIn, questions: int) -> tuple[int, int, str]:
    """Return how many answers are right, out of how many questions, and what they are about. A lesson counts all its
    questions, a quiz at least `questions`.
    """
    if handed.lesson:
        scenes = Performance(found_lesson(handed.lesson)).staged()
        asked = [scene.question for scene in scenes if scene.question is not None]
        right = sum(bool(each.entered(text)) for each, text in zip(asked, handed.answers, strict=False))
        return right, len(asked), f"lesson {handed.lesson}"
    quiz = Quiz.at_level(handed.seed, handed.level, policy=handed.policy)
    for text in handed.answers:
        question = quiz.ask()[1].staged.question
        assert question is not None
        quiz = quiz.after(question.entered(text))
    told = f"quiz with seed {handed.seed}, up to level {quiz.level + 1}"
    return quiz.right, max(len(handed.answers), questions), told
