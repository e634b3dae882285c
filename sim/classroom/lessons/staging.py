"""Evaluation of a lesson of either kind: about simulated runs, or about a recording of a cluster."""

from __future__ import annotations

from pathlib import Path

from sim.classroom.lessons.lesson import Lesson, LessonError
from sim.classroom.lessons.lesson_file import read_lesson
from sim.classroom.lessons.performance import Performance, Staged
from sim.classroom.lessons.recorded import RecordedPerformance


def performance_of(lesson: Lesson) -> Performance:
    return RecordedPerformance(lesson) if lesson.recording else Performance(lesson)


def check(path: str | Path) -> tuple[list[Staged], list[LessonError]]:
    """Return the evaluated scenes of a lesson file that have no errors, and the errors of the others."""
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
    try:
        performance.solution()
    except LessonError as error:
        wrong += [error, *error.others]
    return staged, wrong
