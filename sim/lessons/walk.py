"""Progress of a user through a lesson: the current scene, the answers, and what is shown.

A walk is immutable: the screen or the presenter replaces it with the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.errors import ParameterError
from sim.lessons.lesson import Lesson
from sim.lessons.performance import Performance, Staged
from sim.lessons.questions import AnswerOption, Question, Verdict
from sim.lessons.runs import Moment

IN_QUESTIONS = ("queue", "matrix", "partitions")
"""Names of the panels that a question may show, because they do not give away its answer."""
LONGEST_ANSWER = 24


@dataclass(frozen=True, slots=True)
class SceneNow:
    """Current scene, for the class and for the teacher."""

    lesson: str
    title: str
    text: str
    """Text in Markdown with numbers of the run; it has paragraphs, lists, **strong**, *emphasis* and `code`."""
    notes: str
    index: int
    """Number of the scene, counted from 0."""
    count: int
    question: Question | None = None
    """Question of the scene, or None."""
    typed: str = ""
    """Answer as far as the user has typed it."""
    verdict: Verdict | None = None
    """Result of the answer; for a skipped question the right answer. None before that."""
    is_off: bool = False
    """True while the user explores the run outside of the lesson."""


@dataclass(frozen=True)
class Walk:
    """Place of a user in a lesson: a scene and, if it has a question, whether that is answered."""

    lesson: Lesson
    scenes: tuple[Staged, ...]
    index: int = 0
    typed: str = ""
    verdict: Verdict | None = None
    guessed: float | None = None
    """Time or number that the user answered; None for other answers."""
    given: str = ""
    """Answer as the question writes it; "" before the answer, or if the question was skipped."""
    is_off: bool = False
    answers: tuple[tuple[int, bool], ...] = ()
    """For each answer: number of its scene, and True if it was right."""

    @classmethod
    def of(cls, performance: Performance, index: int = 0) -> Walk:
        """Return a walk at the scene with this index of an evaluated lesson."""
        scenes = performance.staged()
        return cls(performance.lesson, scenes, min(max(index, 0), len(scenes) - 1))

    @property
    def staged(self) -> Staged:
        return self.scenes[self.index]

    @property
    def open_question(self) -> Question | None:
        """Return the question of the scene as long as it is not answered, or None."""
        return self.staged.question if self.verdict is None else None

    @property
    def now(self) -> SceneNow:
        staged, asked = self.staged, self.open_question
        return SceneNow(
            lesson=self.lesson.title,
            title=staged.title,
            text=staged.text if self.verdict is None else staged.then,
            notes=staged.notes,
            index=self.index,
            count=len(self.scenes),
            question=asked,
            typed=self.typed,
            verdict=self.verdict,
            is_off=self.is_off,
        )

    # View

    @property
    def moment(self) -> Moment:
        asked = self.staged.question
        return asked.seen if asked is not None and self.verdict is not None else self.staged.moment

    @property
    def selected(self) -> int | None:
        asked = self.staged.question
        if asked is None or self.verdict is None or asked.rank is None:
            return self.staged.selected
        return asked.rank

    @property
    def panels(self) -> tuple[str, ...]:
        """Return the names of the panels to show next to the chart."""
        panels = self.staged.panels
        if self.verdict is not None and self.moment.beside is not None:
            return ("versus",)
        return panels if self.open_question is None else tuple(name for name in panels if name in IN_QUESTIONS)

    @property
    def guess(self) -> tuple[float, float] | None:
        """Return the time that the user answered and the right one; None if no time was asked for."""
        asked = self.staged.question
        if self.guessed is None or asked is None or asked.value is None or asked.value.unit != "moment":
            return None
        return self.guessed, asked.value.number

    @property
    def is_right(self) -> bool | None:
        """Return True if the last answer was right; None before the first answer."""
        return self.answers[-1][1] if self.answers else None

    # Navigation

    @property
    def is_at_the_end(self) -> bool:
        return self.index == len(self.scenes) - 1 and self.open_question is None

    def next(self) -> Walk:
        """Return the walk at the next scene. An open question is answered first; at the end the walk stays the same."""
        if self.open_question is not None:
            return self._answered(None)
        return self.go(self.index + 1) if not self.is_at_the_end else self.back()

    def previous(self) -> Walk:
        """Return the walk at the previous scene, or from an answer at its question."""
        return self.go(self.index if self.verdict is not None else self.index - 1)

    def go(self, index: int) -> Walk:
        """Return the walk at the scene with this index."""
        index = min(max(index, 0), len(self.scenes) - 1)
        return replace(self, index=index, typed="", verdict=None, guessed=None, given="", is_off=False)

    def resumed(self, index: int, answers: tuple[tuple[int, bool], ...]) -> Walk:
        """Return the walk at a scene with the answers of an earlier walk."""
        known = tuple(answer for answer in answers if answer[0] in range(len(self.scenes)))
        return replace(self.go(index), answers=known)

    def off(self) -> Walk:
        """Return the walk with the mark that the user explores outside of the lesson."""
        return replace(self, is_off=True, typed="")

    def back(self) -> Walk:
        """Return the walk without that mark, at the same scene."""
        return replace(self, is_off=False)

    # Answers

    def typing(self, letter: str) -> Walk:
        """Return the walk after typing a letter of the answer; if only one choice is left, it is the answer."""
        typed, asked = (self.typed + letter)[:LONGEST_ANSWER], self.open_question
        if asked is not None and (choice := asked.begun(typed)) is not None:
            return self._answered(choice)
        return replace(self, typed=typed)

    def rubbed_out(self) -> Walk:
        return replace(self, typed=self.typed[:-1])

    def entered(self) -> Walk:
        """Return the walk after giving the typed answer; raise an error if it is no possible answer."""
        if self.open_question is None:
            return self
        return self._answered(self.open_question.read(self.typed))

    def picked(self, rank: int | None, time: float | None) -> Walk:
        """Return the walk after a click on a job or a time, which is the answer if the question asks for one."""
        asked = self.open_question
        if asked is None:
            return self
        if asked.choices:
            choice = None if rank is None else asked.of_rank(rank)
            return self if choice is None else self._answered(choice)
        if asked.value is not None and asked.value.unit == "moment" and time is not None:
            return self._answered(float(time))
        return self

    def chosen(self, number: int) -> Walk:
        """Return the walk after choosing the answer with this number."""
        asked = self.open_question
        if asked is None or not 0 <= number < len(asked.choices):
            raise ParameterError("there is no such choice")
        return self._answered(asked.choices[number])

    def _answered(self, given: AnswerOption | float | None) -> Walk:
        """Return the walk with this answer and its result; None stands for a skipped question."""
        asked = self.open_question
        assert asked is not None
        if given is None:
            return replace(self, typed="", verdict=Verdict(False, asked.told), is_off=False)
        verdict = asked.judge(given)
        answers = (*(a for a in self.answers if a[0] != self.index), (self.index, verdict.is_right))
        guessed = given if isinstance(given, float) else None
        written = asked.written(given)
        return replace(self, typed="", verdict=verdict, guessed=guessed, given=written, is_off=False, answers=answers)
