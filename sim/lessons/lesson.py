"""Data of a lesson: a trace, a policy, and scenes, each with a time, panels, a text and perhaps a question.

The classes hold plain values, as in a file (`sim.lessons.lesson_file`). `sim.lessons.performance` checks that the
statements of a lesson are true in the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sim.errors import FileError
from sim.machine.processors import Placement

Kind = Literal["next", "start", "policy", "gains", "loses", "number"]
"""Kind of question: the next job to start, a start, the policy of a schedule, the job that gains or loses most, or a
number.
"""
PAPERS: Mapping[str, str] = {
    "": "To begin with, and in the end",
    "Z": "Zhang et al. 2000",
    "K": "Kettimuthu 2003",
    "ZKP": "Zotkin et al. 2000",
    "W": "Ward et al. 2002",
    "LS": "Lawson and Smirni 2002",
}
"""Title of each paper by its short name; a user's own lesson may name any other source."""
ORDER = (
    "read-this-chart", "backfilling", "draw-a-puzzle", "be-the-scheduler", "zkp-lies", "zkp-doubled",
    "zkp-short-first", "zkp-early-end", "w-slip", "w-starving", "w-two-windows", "ls-boundaries", "ls-own-queue",
    "ls-crash", "k-promise", "k-factor", "k-half", "k-seats", "z-hole", "z-turns", "z-switch-cost", "z-migration",
    "which-is-better", "full-memory", "why-not-my-job",
)  # fmt: skip
"""Names of the built-in lessons in the order of learning."""
THE_END = "end"
"""Word for the time at which the last job has ended."""
PANELS = ("queue", "decisions", "details", "matrix", "partitions", "versus", "prints", "code", "strip", "metrics")
"""Panels that a scene can show next to the chart."""
COLOURS = (
    "job", "user", "queue", "partition", "width", "length", "wait", "slowdown", "estimate", "passed", "versus",
)  # fmt: skip
"""Names of the colourings of jobs that a scene can choose."""
Zoom: TypeAlias = "Literal['all', 'first'] | tuple[str, str]"
"""Times that the chart of a scene shows: "all" for the whole run, "first" for the first view of a replay, or (begin,
end) as text.
"""


class LessonError(FileError):
    """Error in a lesson file: the file cannot be read, or a statement in the lesson is false in the run."""

    others: tuple[LessonError, ...] = ()
    """Other errors that were found in the same lesson."""

    @classmethod
    def first_of(cls, wrong: Iterable[LessonError]) -> LessonError:
        """Return the first of the errors `wrong`, with the others attached in `others`."""
        first, *others = sorted(wrong, key=lambda error: error.line or 0)
        first.others = tuple(others)
        return first


@dataclass(frozen=True)
class Ask:
    """Question of a scene; the right answer is computed by the run."""

    kind: Kind
    question: str = ""
    """Text of the question; "" for the standard text of its kind."""
    job: str = ""
    """Name of the job whose start is asked for"""
    of: str = ""
    """Name of the number that is asked for, as in `sim.lessons.names`"""
    among: tuple[str, ...] = ()
    """Specs of the policies among which the answer must be chosen."""
    under: str = ""
    """Policy of a second run, compared with which a job gains or loses"""
    within: float = 0.0
    """Largest relative error with which an answered number still counts as right; 0 for the default."""
    then: str = ""
    """Text shown with the answer, after the program's own reason."""


@dataclass(frozen=True)
class LessonScene:
    """Scene of a lesson. A field that is None keeps the value of the scene before."""

    title: str = ""
    say: str = ""
    notes: str = ""
    """Notes for the teacher."""
    at: str | None = None
    """Time or step of the scene, or "end"."""
    when: str | None = None
    """Condition; the scene is at the first step that meets it after the previous scene."""
    before: str | None = None
    """Condition; the scene is just before the first step that meets it after the previous scene."""
    policy: str | None = None
    """Policy of the run from its beginning, for this scene and the following ones; `easy with exact` also sets the
    estimates.
    """
    switch: str | None = None
    """Policy that takes over from the first policy at the scene's time, in this scene only."""
    compare: str | None = None
    """Policy of a second run that is shown next to the first, from the beginning; in the field `compare_here` it takes
    over at the scene's time.
    """
    compare_here: str | None = None
    show: tuple[str, ...] | None = None
    """Names of the panels that the scene shows."""
    over: str | None = None
    """Name of the panel that covers the chart if the screen is small."""
    zoom: Zoom | None = None
    select: str | None = None
    """Name of the selected job."""
    colour: str | None = None
    ask: Ask | None = None
    holds: tuple[str, ...] = ()
    """Statements that the text makes, such as `J5.end <= J3.start`; they must be true in the run."""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    """For each key of the scene: the number of its line in the file; the key "" stands for the line where the scene
    begins.
    """

    def line(self, key: str) -> int:
        return self.lines.get(key, self.lines.get("", 0))


@dataclass(frozen=True)
class Lesson:
    """Lesson: a trace, a policy, and scenes with texts and questions."""

    name: str
    title: str
    trace: str
    """Name of a sample, or path of a file next to the lesson."""
    scenes: tuple[LessonScene, ...]
    policy: str = "easy"
    paper: str = ""
    about: str = ""
    """Summary in one line."""
    exercise: str = ""
    """Exercise, shown as the last scene."""
    options: Mapping[str, Any] = field(default_factory=dict)
    placement: Placement = "lowest"
    picture: int = 1
    """Number of a scene, counted from 1; its chart is the lesson's picture."""
    path: str = ""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def count(self) -> int:
        """Return the number of scenes, including the exercise."""
        return len(self.scenes) + bool(self.exercise)

    def wrong(self, what: str, scene: LessonScene | None = None, key: str = "") -> LessonError:
        """Return an error with the text `what` that names the line of `key` in the scene or, without a scene, at the
        top of the file.
        """
        line = self.lines.get(key, 0) if scene is None else scene.line(key)
        return LessonError(what, self.path or self.name, line)
