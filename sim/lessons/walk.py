"""Somebody's way through a lesson: at which scene they are, what they answered, and what is to be seen there.

Plain values: whoever shows a lesson, on a screen or into a file, puts another walk in the place of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim.errors import ParameterError
from sim.lessons.lesson import Lesson
from sim.lessons.performance import Performance, Staged
from sim.lessons.questions import Choice, Question, Verdict
from sim.lessons.runs import Moment

IN_QUESTIONS = ("queue", "matrix", "partitions")
"""The panels that do not tell what comes."""
LONGEST_ANSWER = 24


@dataclass(frozen=True, slots=True)
class SceneNow:
    """What is said now, to the class and to the teacher."""

    lesson: str
    title: str
    text: str
    """Markdown of one kind: paragraphs, lists, **strong**, *emphasis* and `code`; numbers of the run are in it."""
    notes: str
    index: int
    """Which scene, counted from 0."""
    count: int
    question: Question | None = None
    """What is asked, as long as it is open."""
    typed: str = ""
    """The beginning of an answer."""
    verdict: Verdict | None = None
    """What there is to say to the answer; of a question that nobody answered, the answer."""
    is_off: bool = False
    """Has the person left the path?"""


@dataclass(frozen=True)
class Walk:
    """At a scene of a lesson; a question has two sides, before the answer and behind it."""

    lesson: Lesson
    scenes: tuple[Staged, ...]
    index: int = 0
    typed: str = ""
    verdict: Verdict | None = None
    guessed: float | None = None
    """What was answered, where a moment or a number was asked for."""
    is_off: bool = False
    answers: tuple[tuple[int, bool], ...] = ()
    """(scene, was it right?) of what was answered."""

    @classmethod
    def of(cls, performance: Performance, index: int = 0) -> Walk:
        """The whole lesson, staged."""
        scenes = performance.staged()
        return cls(performance.lesson, scenes, min(max(index, 0), len(scenes) - 1))

    @property
    def staged(self) -> Staged:
        return self.scenes[self.index]

    @property
    def open_question(self) -> Question | None:
        """What waits for an answer."""
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

    # What is to be seen

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
        """What is shown beside the chart."""
        panels = self.staged.panels
        if self.verdict is not None and self.moment.beside is not None:
            return ("versus",)
        return panels if self.open_question is None else tuple(name for name in panels if name in IN_QUESTIONS)

    @property
    def guess(self) -> tuple[float, float] | None:
        """The moment that was guessed, and the one that is right."""
        asked = self.staged.question
        if self.guessed is None or asked is None or asked.value is None or asked.value.unit != "moment":
            return None
        return self.guessed, asked.value.number

    @property
    def is_right(self) -> bool | None:
        """Was what was answered last right? None: nothing was answered."""
        return self.answers[-1][1] if self.answers else None

    # On the way

    @property
    def is_at_the_end(self) -> bool:
        return self.index == len(self.scenes) - 1 and self.open_question is None

    def next(self) -> Walk:
        """On: an open question is answered by the run; at the end it stays."""
        if self.open_question is not None:
            return self._answered(None)
        return self.go(self.index + 1) if not self.is_at_the_end else self.back()

    def previous(self) -> Walk:
        """Back: from an answer to its question."""
        return self.go(self.index if self.verdict is not None else self.index - 1)

    def go(self, index: int) -> Walk:
        """To a scene."""
        index = min(max(index, 0), len(self.scenes) - 1)
        return replace(self, index=index, typed="", verdict=None, guessed=None, is_off=False)

    def off(self) -> Walk:
        """Off the path: the person looks around."""
        return replace(self, is_off=True, typed="")

    def back(self) -> Walk:
        """Back on the path, at the same place."""
        return replace(self, is_off=False)

    # Answers

    def typing(self, letter: str) -> Walk:
        """One more letter of an answer; where it can mean one thing only, that is the answer."""
        typed, asked = (self.typed + letter)[:LONGEST_ANSWER], self.open_question
        if asked is not None and (choice := asked.begun(typed)) is not None:
            return self._answered(choice)
        return replace(self, typed=typed)

    def rubbed_out(self) -> Walk:
        return replace(self, typed=self.typed[:-1])

    def entered(self) -> Walk:
        """What was typed is the answer; what cannot be one is refused."""
        if self.open_question is None:
            return self
        return self._answered(self.open_question.read(self.typed))

    def picked(self, rank: int | None, time: float | None) -> Walk:
        """A click on the chart or in the queue: a job, or a place, as the question wants it."""
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
        """One of the choices, by its place."""
        asked = self.open_question
        if asked is None or not 0 <= number < len(asked.choices):
            raise ParameterError("there is no such choice")
        return self._answered(asked.choices[number])

    def _answered(self, given: Choice | float | None) -> Walk:
        """The answer, with what there is to say to it; None: nobody said anything."""
        asked = self.open_question
        assert asked is not None
        if given is None:
            return replace(self, typed="", verdict=Verdict(False, asked.told), is_off=False)
        verdict = asked.judge(given)
        answers = (*(a for a in self.answers if a[0] != self.index), (self.index, verdict.is_right))
        guessed = given if isinstance(given, float) else None
        return replace(self, typed="", verdict=verdict, guessed=guessed, is_off=False, answers=answers)
