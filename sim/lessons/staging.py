"""Evaluation of a lesson of either kind: about simulated runs, or about a recording of a cluster."""

from __future__ import annotations

from pathlib import Path

from sim.lessons.lesson import Lesson, LessonError
from sim.lessons.lesson_file import read_lesson
from sim.lessons.performance import Performance, Staged
from sim.lessons.recorded import RecordedPerformance


def performance_of(lesson: Lesson) -> Performance:
    """Return the evaluation of a lesson; the workload of a lesson about simulated runs is read now."""
    return RecordedPerformance(lesson) if lesson.recording else Performance(lesson)


def check(path: str | Path) -> tuple[list[Staged], list[LessonError]]:
    """Return the scenes of a lesson file that have no errors, evaluated, and a list of all errors in the other
    scenes.
    """
    try:
        performance = performance_of(read_lesson(path))
    except LessonError as error:
        return [], [error, *error.others]
    staged, wrong = [], []
    for scene in performance.scenes:
        try:
            staged.append(performance.stage(scene))
        except LessonError as error:
            wrong += [error, *error.others]
    return staged, wrong
