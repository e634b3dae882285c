"""Progress of a user through a lesson: the current scene, the answers, and what is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.performance import Performance, Staged
from sim.classroom.lessons.questions import AnswerOption, Question, Verdict
from sim.classroom.lessons.runs import RunMoment
from sim.support.errors import ParameterError

IN_QUESTIONS = ("queue", "matrix", "partitions")
"""Names of the panels that may be shown while a question is open, because they do not give away its answer."""
LONGEST_ANSWER = 24


@dataclass(frozen=True)
class Walk:
    """State of a user in a lesson: the current scene and, if it has a question, the answer given."""

    lesson: Lesson
    scenes: tuple[Staged, ...]
    index: int = 0
    typed: str = ""
    """Answer as far as the user has typed it."""
    verdict: Verdict | None = None
    """Result of the answer; for a skipped question the right answer; None until it is answered."""
    guessed: float | None = None
    """Time or number that the user answered; None if the user has not answered or has chosen one of the choices."""
    given: str = ""
    """Answer as text; "" before the answer, or if the question was skipped."""
    is_off: bool = False
    """True while the user has left the scene to explore the run."""
    answers: tuple[tuple[int, bool], ...] = ()
    """For each answered question: index of its scene, and True if the last answer was right."""
    first: tuple[tuple[int, str], ...] = ()
    """For each question: index of its scene, and the first answer as `Question.entered` reads it; "" if skipped."""

    @classmethod
    def of(cls, performance: Performance, index: int = 0) -> Walk:
        scenes = performance.staged()
        return cls(performance.lesson, scenes, min(max(index, 0), len(scenes) - 1))

    @property
    def staged(self) -> Staged:
        return self.scenes[self.index]

    @property
    def open_question(self) -> Question | None:
        return self.staged.question if self.verdict is None else None

    @property
    def text(self) -> str:
        """Return the scene's text in Markdown: paragraphs, lists, **strong**, *emphasis* and `code`."""
        return self.staged.text if self.verdict is None else self.staged.then

    @property
    def following(self) -> str:
        """Return the name of the next lesson, at the end of a lesson that has one; "" elsewhere."""
        return self.lesson.following if self.is_at_the_end else ""

    # View

    @property
    def moment(self) -> RunMoment:
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
        panels = self.staged.panels
        if self.verdict is not None and self.moment.beside is not None:
            return ("versus",)
        return panels if self.open_question is None else tuple(name for name in panels if name in IN_QUESTIONS)

    @property
    def guess(self) -> tuple[float, float] | None:
        """Return the time that the user answered and the right time; None if the user has not answered with a time."""
        asked = self.staged.question
        if self.guessed is None or asked is None or asked.value is None or asked.value.unit != "moment":
            return None
        return self.guessed, asked.value.number

    @property
    def is_right(self) -> bool | None:
        return self.answers[-1][1] if self.answers else None

    # Navigation

    @property
    def is_at_the_end(self) -> bool:
        return self.index == len(self.scenes) - 1 and self.open_question is None

    def next(self) -> Walk:
        """Return the walk at the next scene or, if a question is open, with its answer; at the last, end exploring."""
        if self.open_question is not None:
            return self._with_answer(None)
        return self.go(self.index + 1) if not self.is_at_the_end else self.back()

    def previous(self) -> Walk:
        """Return the walk at the previous scene or, if an answer is shown, with this scene's question open again."""
        return self.go(self.index if self.verdict is not None else self.index - 1)

    def go(self, index: int) -> Walk:
        index = min(max(index, 0), len(self.scenes) - 1)
        return replace(self, index=index, typed="", verdict=None, guessed=None, given="", is_off=False)

    def resumed(self, index: int, answers: tuple[tuple[int, bool], ...]) -> Walk:
        """Return the walk at this scene with an earlier walk's answers: (index of the scene, True if it was right)."""
        known = tuple(answer for answer in answers if answer[0] in range(len(self.scenes)))
        return replace(self.go(index), answers=known)

    def off(self) -> Walk:
        return replace(self, is_off=True, typed="")

    def back(self) -> Walk:
        return replace(self, is_off=False)

    # Answers

    def typing(self, letter: str) -> Walk:
        """Return the walk after a typed letter; a text that stands for exactly one choice is the answer."""
        typed, asked = (self.typed + letter)[:LONGEST_ANSWER], self.open_question
        if asked is not None and (choice := asked.begun(typed)) is not None:
            return self._with_answer(choice)
        return replace(self, typed=typed)

    def rubbed_out(self) -> Walk:
        return replace(self, typed=self.typed[:-1])

    def entered(self) -> Walk:
        if self.open_question is None:
            return self
        return self._with_answer(self.open_question.read(self.typed))

    def picked(self, rank: int | None, time: float | None) -> Walk:
        """Return the walk after a click on a job or a `time`, which is the answer if the question asks for such."""
        asked = self.open_question
        if asked is None:
            return self
        if asked.choices:
            choice = None if rank is None else asked.of_rank(rank)
            return self if choice is None else self._with_answer(choice)
        if asked.value is not None and (asked.value.unit == "moment" or asked.kind == "start") and time is not None:
            return self._with_answer(float(time), is_click=True)
        return self

    def chosen(self, number: int) -> Walk:
        asked = self.open_question
        if asked is None or not 0 <= number < len(asked.choices):
            raise ParameterError("there is no such choice")
        return self._with_answer(asked.choices[number])

    def _with_answer(self, given: AnswerOption | float | None, is_click: bool = False) -> Walk:
        asked = self.open_question
        assert asked is not None
        if all(index != self.index for index, _ in self.first):
            told = "" if given is None else given.key if isinstance(given, AnswerOption) else repr(given)
            if is_click and given is not None and asked.value and asked.judge(given, is_click).is_right:
                told = repr(asked.value.number)  # a click there means this
            return replace(self, first=(*self.first, (self.index, told)))._with_answer(given, is_click)
        if given is None:
            return replace(self, typed="", verdict=Verdict(is_right=False, told=asked.told), is_off=False)
        verdict = asked.judge(given, is_click)
        answers = (*(a for a in self.answers if a[0] != self.index), (self.index, verdict.is_right))
        guessed = given if isinstance(given, float) else None
        written = asked.written(given)
        return replace(self, typed="", verdict=verdict, guessed=guessed, given=written, is_off=False, answers=answers)
