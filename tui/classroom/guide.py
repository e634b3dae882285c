"""Lesson as the guide of a replay: scenes, questions, and the return after exploring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from sim.classroom.lessons.lesson import ORDER
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.walk import Walk
from sim.engine.snapshot import Snapshot
from sim.support.errors import SchedscopeError
from tui.chart.scene import Mark
from tui.classroom.lesson_lines import how_to_answer, lesson_lines, walking_keys
from tui.classroom.presenting import tell, tell_no_more
from tui.look.sheets import Line
from tui.replay.guide import Guide
from tui.replay.requests import CompareBranch, CompareNoMore, Restore, Veil
from tui.screens.replay.messages import LessonOver, OpenLesson, SceneChanged, ShowLessons
from tui.screens.replay.screen import ReplayScreen
from tui.screens.replay.state import PANELS

ON_THE_PATH = {
    "space": "lesson_next", "right": "lesson_next", "pagedown": "lesson_next", "left": "lesson_previous",
    "pageup": "lesson_previous", "home": "lesson_go(0)", "enter": "lesson_off", "L": "lessons",
}  # fmt: skip
OFF_THE_PATH = {
    "pagedown": "lesson_next", "pageup": "lesson_previous", "enter": "lesson_back", "escape": "lesson_back",
}  # fmt: skip
DIGITS = "0123456789"
NUMBERED = DIGITS + "jJ"
"""Characters of an answer that is the number of a job or of a choice."""
TIMED = DIGITS + ".,:#-%dhmswinept "
"""Characters of an answer that is a time, a date, a step or a number."""
ENTER_HABIT = 1.5
"""Seconds for which Enter is ignored after an answer that needed none: some press it out of habit."""
FIRST = {"moment": DIGITS + "#ds"}
"""Characters, by unit, that may begin an answer where not only digits do, as in d3 20:30, #12."""
LESSON_KEYS = "In a lesson", (
    ("space → pgdn", "Next scene; an open question is answered by the run."),
    ("← pgup", "Back."), ("home", "From the start."),
    ("0 ... 9", "The answer: the number of a job, of a choice, or a time, with enter where it could go on."),
    ("click", "The answer: a job, or a place on the chart."),
    ("enter", "Leave the lesson to explore with all keys, or return to it."), ("L", "Other lessons."),
    ("I", "Before a class that answers in browsers: its answers as bars; again: which are right; again: away."),
)  # fmt: skip


@dataclass(frozen=True)
class LessonGuide:
    walk: Walk
    help = LESSON_KEYS

    @property
    def is_off(self) -> bool:
        return self.walk.is_off

    @property
    def _asked(self) -> Question | None:
        return None if self.walk.is_off else self.walk.open_question

    @property
    def veil(self) -> Veil:
        return veil_over(self._asked)

    @property
    def hint(self) -> str:
        return "" if self._asked is None else how_to_answer(self._asked)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return marks at the times of the answer and the truth, if a question was answered by one."""
        guess = None if self.walk.is_off else self.walk.guess
        return () if guess is None else (Mark(guess[0], "guess", "your guess"), Mark(guess[1], "guess", "it is here"))

    def off(self) -> LessonGuide:
        return LessonGuide(self.walk.off())

    def controller(self, screen: ReplayScreen, now: Callable[[], float]) -> Teaching:
        return Teaching(screen, now)

    def action(self, key: str, letter: str | None) -> str | None:
        walk = self.walk
        if walk.is_off:
            return OFF_THE_PATH.get(key)
        if walk.open_question is not None:
            if letter and letter in _letters(walk.open_question, walk.typed):
                return f"lesson_type({letter!r})"
            if key == "backspace":
                return "lesson_rub_out"
            if key == "enter" and walk.typed:
                return "lesson_enter"
        return ON_THE_PATH.get(key)

    def words(self, width: int, shown: Snapshot | None = None) -> list[Line]:
        return lesson_lines(self.walk, width, shown)

    def keys(self, width: int) -> Line:
        return walking_keys(width, self.walk)

    def publish(self) -> None:
        tell(self.walk)

    def unpublish(self) -> None:
        tell_no_more()


def walk_of(guide: Guide | None) -> Walk | None:
    """Return the user's place in the lesson; None if no lesson is the guide."""
    return guide.walk if isinstance(guide, LessonGuide) else None


def veil_over(asked: Question | None) -> Veil:
    """Return what must not be shown while this question is open."""
    return "" if asked is None else "policy" if asked.kind == "policy" else "plan"


def _letters(asked: Question, typed: str) -> str:
    if asked.value is None:
        return NUMBERED
    return TIMED if typed else FIRST.get(asked.value.unit, DIGITS)


class Teaching:
    def __init__(self, screen: ReplayScreen, now: Callable[[], float] = monotonic) -> None:
        self._screen, self._now = screen, now
        self._answered = -ENTER_HABIT
        """Time in seconds of the last answer that needed no Enter; at first so early that none is ignored."""

    @property
    def _walk(self) -> Walk:
        walk = walk_of(self._screen.state.guide)
        assert walk is not None
        return walk

    # On the way

    def lesson_next(self) -> None:
        if self._walk.is_at_the_end and not self._walk.is_off:
            following = "" if self._screen.state.projected else self._walk.lesson.following
            self._screen.post_message(OpenLesson(following) if following else LessonOver(self._walk.is_right))
        else:
            self._put(self._walk.next())

    def lesson_previous(self) -> None:
        self._put(self._walk.previous())

    def lesson_go(self, index: int) -> None:
        self._put(self._walk.go(index))

    def lesson_resume(self, index: int, answers: tuple[tuple[int, bool], ...]) -> None:
        """Go to a scene, with an earlier visit's answers: (index of the scene, True if right)."""
        self._put(self._walk.resumed(index, answers))

    def lesson_off(self) -> None:
        """Let the user explore with the usual keys; an Enter right after an answer is ignored."""
        if self._now() - self._answered < ENTER_HABIT:
            self._answered = -ENTER_HABIT
            return
        self._screen.change(guide=LessonGuide(self._walk.off()))

    def lesson_back(self) -> None:
        self._put(self._walk.back())

    def lessons(self) -> None:
        self._screen.pause()
        self._screen.post_message(ShowLessons())

    # Answers

    def lesson_type(self, letter: str) -> None:
        self._put(self._walk.typing(letter))
        if self._walk.verdict is not None:
            self._answered = self._now()

    def lesson_rub_out(self) -> None:
        self._screen.change(guide=LessonGuide(self._walk.rubbed_out()))

    def lesson_enter(self) -> None:
        try:
            self._put(self._walk.entered())
        except SchedscopeError as error:
            self._screen.fail(str(error))

    def lesson_choose(self, number: int) -> None:
        self._put(self._walk.chosen(number))

    def guide_pick(self, rank: int | None, time: float | None) -> None:
        self._put(self._walk.picked(rank, time))

    # Drawing

    def _put(self, walk: Walk) -> None:
        was, screen = self._walk, self._screen
        stays = walk.index == was.index and walk.verdict == was.verdict and walk.is_off == was.is_off
        screen.change(guide=LessonGuide(walk))
        if not stays:
            self.guide_show()

    def guide_show(self) -> None:
        screen, walk = self._screen, self._walk
        staged, moment = walk.staged, walk.moment
        hidden = frozenset(PANELS) - set(walk.panels)
        screen.pause()
        screen.change(
            hidden=hidden, over=staged.over, alone=None, selected=walk.selected, decision=None, said="", note=None,
            colour=staged.colour, stops=(), other=False, jump="start",
        )  # fmt: skip
        if moment.beside is None:
            screen.player.ask(CompareNoMore())
        beside = None if moment.beside is None else CompareBranch(moment.beside)
        screen.player.ask(Restore((), moment.branch, moment.step, moment.clock, beside))
        screen.see(staged.window)
        screen.post_message(scene_changed(walk))


def scene_changed(walk: Walk) -> SceneChanged:
    """Return the message that a scene of a built-in lesson is seen, which one with an open question is not."""
    return SceneChanged(
        walk.lesson.name if walk.lesson.name in ORDER else "", walk.index + (walk.open_question is None)
    )
