"""Opening of a lesson, or of a question in a quiz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sim.classroom.lessons.lesson import ORDER, Lesson
from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance, source_of
from sim.classroom.lessons.quiz import Quiz
from sim.classroom.lessons.walk import Walk
from sim.policies.registry import policy_of
from sim.support.errors import SchedscopeError
from sim.workload.reading import Heard
from sim.workload.source import Source
from tui.app import Schedscope
from tui.classroom.guide import LessonGuide
from tui.menus import LOADING
from tui.replay.opening import Opening, Prepared, about_run
from tui.thread_results import hand_over


@dataclass(frozen=True)
class LessonOpening(Opening):
    """Opening of a lesson or of a question in a quiz; `stage` makes the runs when it is opened."""

    stage: Callable[[], tuple[Performance, Walk]] | None = None

    def prepare(self, heard: Heard | None = None) -> Prepared:
        assert self.stage is not None
        made, walk = self.stage()
        timeline, trace = made.runs.timeline, made.trace
        timeline.look_at(next(iter(timeline.branches)))
        timeline.seek(0)
        return Prepared(self, about_run(self.source, trace, made.workload), timeline, guide=LessonGuide(walk))


def lesson_opening(lesson: Lesson, scene: int = 0) -> LessonOpening:
    if lesson.recording:
        raise lesson.wrong(f"it is about a recording, which only schedscope learn {lesson.name} shows", key="recording")

    def stage() -> tuple[Performance, Walk]:
        made = Performance(lesson)
        return made, Walk.of(made, scene)

    return LessonOpening(source_of(lesson), policy_of(lesson.policy), lesson.placement, by_event=True, stage=stage)


def named_lesson(what: str, scene: int) -> LessonOpening | None:
    """Return the opening of a lesson in a file (.toml) or of a built-in one; None for anything else."""
    return lesson_opening(found_lesson(what), scene) if what.endswith(".toml") or what in ORDER else None


def quiz_opening(quiz: Quiz) -> LessonOpening:
    return LessonOpening(Source("random"), policy_of("easy"), by_event=True, stage=quiz.ask)


def open_lesson(app: Schedscope, name: str) -> None:
    """Open a lesson at the scene that the user reached before, or at its beginning if all scenes were seen."""
    lesson, seen = found_lesson(name), app.settings.lessons.get(name, 0)
    scene = seen - 1 if 0 < seen < lesson.count else 0
    if lesson.recording:
        app.run_worker(lambda: _open_recorded(app, lesson, scene), thread=True, exclusive=True, group=LOADING)
    else:
        app.open(lambda: lesson_opening(lesson, scene))


def _open_recorded(app: Schedscope, lesson: Lesson, scene: int) -> None:
    from sim.classroom.lessons.recorded import RecordedPerformance
    from tui.classroom.recorded_lesson import LessonScreen

    try:
        made = RecordedPerformance(lesson)
        screen = LessonScreen(made, Walk.of(made, scene), app.look)
    except SchedscopeError as error:
        hand_over(app, app.notify, str(error), severity="error", timeout=12)
    else:
        hand_over(app, app.show_replay, screen)
