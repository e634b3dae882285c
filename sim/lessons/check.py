"""Does a lesson hold? All that does not, each with its file and line."""

from __future__ import annotations

from pathlib import Path

from sim.lessons.lesson import LessonError
from sim.lessons.lesson_file import read_lesson
from sim.lessons.performance import Performance, Staged


def check(path: str | Path) -> tuple[list[Staged], list[LessonError]]:
    """The scenes of the lesson in a file that hold, and what is wrong with the others, or with all of it."""
    try:
        performance = Performance(read_lesson(path))
    except LessonError as error:
        return [], [error, *error.others]
    staged, wrong = [], []
    for scene in performance.scenes:
        try:
            staged.append(performance.stage(scene))
        except LessonError as error:
            wrong += [error, *error.others]
    return staged, wrong
