"""Students of a class: for each the scene, the answers and their times; and the best games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple, TypeGuard

from sim.classroom.lessons.performance import Staged
from sim.classroom.lessons.questions import Question, Verdict
from sim.support.errors import ParameterError
from sim.support.formatting import printable

MOST = 500
"""Largest number of students that are stored; beyond it the one disconnected for longest is removed."""
LONGEST_NAME, LONGEST_ANSWER = 40, 60
MOST_BARS = 9
"""Largest number of answers with a bar each; the rarer ones share one bar."""
STUCK = 180.0
"""Seconds in one scene after which a student counts as stuck in it."""
MOST_BEST = 10
COLUMNS = (
    "student", "name", "scene", "title", "question", "answer", "right", "seconds", "mean_wait", "worst_wait",
)  # fmt: skip
"""Names of the columns in the table of a class."""


class Given(NamedTuple):
    """Answer of a student to a question, and whether it is right."""

    label: str
    is_right: bool
    seconds: float
    """Seconds that the student had been in the scene before answering."""
    typed: str = ""
    """Text that the student typed, if the answer is to the question of the common (the presenter's) screen."""


class Score(NamedTuple):
    mean: float
    worst: float


@dataclass
class Student:
    """Student of the class, identified by the key of a visit; the name is "" if the student has typed none."""

    number: int
    since: float
    """Time of the monotonic clock, in seconds, at which the student came to the present scene."""
    name: str = ""
    scene: int = 0
    pages: int = 0
    """Number of connected pages; for a short time more than one, after a change of network."""
    left: float = 0.0
    """Time of the monotonic clock, in seconds, at which the last page disconnected."""
    answers: dict[int, Given] = field(default_factory=dict)
    """Answer by scene: the first one given counts or, on the common (the presenter's) screen, the last one."""
    score: Score | None = None

    @property
    def called(self) -> str:
        return self.name or f"student {self.number}"


class Roster:
    def __init__(
        self, scenes: Sequence[Staged] = (), now: Callable[[], float] = monotonic, has_tasks: bool = False
    ) -> None:
        """Make an empty class; with `has_tasks` each scene is an inverse puzzle."""
        self.scenes, self._now, self.has_tasks = scenes, now, has_tasks
        self._students: dict[str, Student] = {}
        self._count = 0
        self.began = now()

    # Reports

    def arrive(self, key: str) -> None:
        student = self._students.get(key)
        if student is None:
            self._make_room()
            self._count += 1
            student = self._students[key] = Student(self._count, self._now())
        student.pages += 1

    def leave(self, key: str) -> None:
        if (student := self._students.get(key)) is not None:
            student.pages, student.left = max(student.pages - 1, 0), self._now()

    def call(self, key: str, name: str) -> None:
        if (student := self._students.get(key)) is not None:
            student.name = text_of(name, LONGEST_NAME)

    def stand(self, key: str, scene: object) -> None:
        student, index = self._students.get(key), self._index(scene)
        if student is not None and index is not None and index != student.scene:
            student.scene, student.since = index, self._now()

    def answer(self, key: str, scene: object, label: str, is_right: bool, typed: str = "") -> None:
        """Record an answer: the first one counts or, on the common screen, where `typed` is not empty, the last one."""
        student, index = self._students.get(key), self._index(scene)
        if student is None or index is None or self.scenes[index].question is None:
            return
        if not typed and index in student.answers:
            return
        seconds = self._now() - student.since
        student.answers[index] = Given(text_of(label, LONGEST_ANSWER), bool(is_right), seconds, typed)

    def judge(self, key: str, scene: int, typed: str) -> str:
        """Record an answer typed on the common screen and return its usual form, or raise `ParameterError`."""
        asked = self.question(scene)
        if asked is None:
            raise ParameterError("no question is open")
        typed = typed[:LONGEST_ANSWER]
        given = asked.read(typed)
        label = asked.written(given)
        self.answer(key, scene, label, asked.judge(given).is_right, typed)
        return label

    def given(self, key: str, scene: int) -> Given | None:
        student = self._students.get(key)
        return None if student is None else student.answers.get(scene)

    def verdict(self, key: str, scene: int) -> Verdict | None:
        """Return the verdict on a student's typed answer on the common screen, or None."""
        given, asked = self.given(key, scene), self.question(scene)
        return None if given is None or not given.typed or asked is None else asked.judge(asked.read(given.typed))

    def score(self, key: str, mean: object, worst: object) -> None:
        """Record the mean and longest wait of a finished game; only the best game of each student is kept."""
        student = self._students.get(key)
        if student is None or not (_is_wait(mean) and _is_wait(worst)):
            return
        score = Score(float(mean), float(worst))
        student.score = score if student.score is None else min(student.score, score)

    def _make_room(self) -> None:
        while len(self._students) >= MOST:
            away = [key for key, student in self._students.items() if not student.pages]
            first = min(away or self._students, key=lambda key: self._students[key].left)
            del self._students[first]

    def _index(self, scene: object) -> int | None:
        known = isinstance(scene, int) and not isinstance(scene, bool) and 0 <= scene < len(self.scenes)
        return scene if known and isinstance(scene, int) else None

    # Summaries

    def question(self, scene: int) -> Question | None:
        return self.scenes[scene].question if 0 <= scene < len(self.scenes) else None

    @property
    def usual(self) -> int | None:
        """Return the asking scene with most students now, of equals with most answers; None if no scene asks."""
        asked = [index for index, scene in enumerate(self.scenes) if scene.question is not None]
        if not asked:
            return None
        here = [student.scene for student in self._students.values() if student.pages]
        answered = [index for student in self._students.values() for index in student.answers]
        return max(asked, key=lambda index: (here.count(index), answered.count(index), -index))

    def tally(self, scene: int) -> list[dict[str, Any]]:
        asked = self.question(scene)
        if asked is None:
            return []
        counts: dict[str, int] = {choice.label: 0 for choice in asked.choices}
        right = {choice.label for choice in asked.choices if choice.is_right}
        for student in self._students.values():
            if (given := student.answers.get(scene)) is not None:
                counts[given.label] = counts.get(given.label, 0) + 1
                right |= {given.label} if given.is_right else set()
        order = list(counts) if asked.choices else sorted(counts, key=lambda label: (-counts[label], label))
        bars = [{"label": label, "count": counts[label], "right": label in right} for label in order[:MOST_BARS]]
        if rest := sum(counts[label] for label in order[MOST_BARS:]):
            bars.append({"label": "others", "count": rest, "right": False})
        return bars

    def asked(self, scene: int | None) -> dict[str, Any]:
        """Return the question of a scene with the bars of the answers given; empty if the scene has no question."""
        question = None if scene is None else self.question(scene)
        if scene is None or question is None:
            return {}
        bars = self.tally(scene)
        return {
            "scene": scene, "title": self.scenes[scene].title, "asks": question.asks, "told": question.told,
            "bars": bars, "answered": sum(bar["count"] for bar in bars),
        }  # fmt: skip

    def students(self) -> list[dict[str, Any]]:
        """Return all students: connected ones first, and in each group the longest in their scene first."""
        now, last = self._now(), len(self.scenes) - 1
        found = [
            {
                "name": student.called, "scene": student.scene, "here": bool(student.pages),
                "seconds": round(now - student.since),
                "stuck": bool(student.pages) and student.scene < last and now - student.since >= STUCK,
                "right": sum(given.is_right for given in student.answers.values()),
                "answered": len(student.answers),
                "mean": None if student.score is None else student.score.mean,
                "worst": None if student.score is None else student.score.worst,
            }
            for student in self._students.values()
        ]  # fmt: skip
        return sorted(found, key=lambda each: (not each["here"], -each["seconds"]))

    def where(self) -> list[dict[str, Any]]:
        here = [student.scene for student in self._students.values() if student.pages]
        return [
            {"title": scene.title, "here": here.count(index), "asks": scene.question is not None}
            for index, scene in enumerate(self.scenes)
        ]

    def best(self) -> list[dict[str, Any]]:
        """Return the best games with their waits or, of inverse puzzles, students and the numbers they solved."""
        if self.has_tasks:
            found = sorted(self._students.values(), key=lambda each: -len(each.answers))
            told = [(each.called, ", ".join(f"{index + 1}" for index in sorted(each.answers))) for each in found]
            return [{"name": name, "solved": solved} for name, solved in told if solved]
        scored = [(student.score, student) for student in self._students.values() if student.score is not None]
        scored.sort(key=lambda each: (each[0], each[1].number))
        return [
            {"name": student.called, "mean": score.mean, "worst": score.worst} for score, student in scored[:MOST_BEST]
        ]

    @property
    def seconds(self) -> float:
        return self._now() - self.began

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the table of the class, headings first: a row per answer, and one per student without answers."""
        yield COLUMNS
        for student in self._students.values():
            waits = (None, None) if student.score is None else student.score
            for index in sorted(student.answers) or [student.scene]:
                given = student.answers.get(index)
                title = self.scenes[index].title if self.scenes else ""
                asked = self.question(index)
                told = ("", "", None, None) if given is None else (
                    asked.asks if asked else "", given.label, int(given.is_right), round(given.seconds),
                )  # fmt: skip
                place = index + 1 if self.scenes else None
                yield student.number, student.name, place, title, *told, *waits


def text_of(given: object, longest: int) -> str:
    r"""Return a text from a browser as one line without control characters, cut to `longest` characters.

    >>> text_of(" J4\x1b[2J\n ", 40), text_of("x" * 99, 5), text_of(7, 5)
    ('J4?[2J', 'xxxxx', '')
    """
    return printable(" ".join(given[: 4 * longest].split()))[:longest] if isinstance(given, str) else ""


def _is_wait(given: object) -> TypeGuard[float]:
    return isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 1e12


def best_of(given: object) -> tuple[tuple[str, float, float], ...]:
    """Return the best games in data from JSON as (name, mean wait, worst wait); invalid entries are left out."""
    if not isinstance(given, list):
        return ()
    return tuple(
        (text_of(each.get("name"), LONGEST_NAME), float(each["mean"]), float(each["worst"]))
        for each in given[:MOST_BEST]
        if isinstance(each, Mapping) and _is_wait(each.get("mean")) and _is_wait(each.get("worst"))
    )
