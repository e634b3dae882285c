"""Program that begins with a lesson about a recording."""

from __future__ import annotations

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.walk import Walk
from tui.app import Schedscope, run_app
from tui.classroom.recorded_lesson import LessonScreen
from tui.memory import give_back_at_once


class LessonApp(Schedscope):
    """App that begins with a lesson about a recording."""

    def __init__(self, made: RecordedPerformance, scene: int) -> None:
        super().__init__(None)
        self._made, self._scene = made, scene

    @property
    def in_lesson(self) -> bool:
        return True

    def show_begin(self) -> None:
        self._menus.show_replay(LessonScreen(self._made, Walk.of(self._made, self._scene), self.look))


def open_recorded(lesson: Lesson, scene: int) -> int:
    """Show a lesson about a recording, at the scene with this index, until the user quits; return the exit code."""
    made = RecordedPerformance(lesson)
    give_back_at_once()
    return run_app(LessonApp(made, scene))
