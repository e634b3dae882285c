"""Data of a lesson: a trace, a policy, and scenes, each with a time, panels, a text and perhaps a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sim.machine.processors import Placement
from sim.support.errors import FileError

Kind = Literal["next", "start", "policy", "gains", "loses", "number", "reason", "earlier"]
"""Next job to start, start of a job, policy of a schedule, job that gains or loses most, a number. Of a recording also
why a job waits, and the change that lets it start earliest.
"""
PAPERS: Mapping[str, str] = {
    "": "Introduction and practice",
    "Z": "Zhang et al. 2000",
    "K": "Kettimuthu 2003",
    "ZKP": "Zotkin et al. 2000",
    "W": "Ward et al. 2002",
    "LS": "Lawson and Smirni 2002",
}
"""Short name of each paper -> its title, for the field `paper`; a user's own lesson may have any other text."""
ORDER = (
    "read-this-chart", "backfilling", "draw-a-puzzle", "be-the-scheduler", "zkp-lies", "zkp-doubled",
    "zkp-short-first", "zkp-early-end", "w-slip", "w-starving", "w-two-windows", "ls-boundaries", "ls-own-queue",
    "ls-crash", "k-promise", "k-factor", "k-half", "k-seats", "z-hole", "z-turns", "z-switch-cost", "z-migration",
    "which-is-better", "full-memory", "why-not-my-job", "real-cluster",
)  # fmt: skip
THE_END = "end"
"""Word that a lesson file uses for the time at which the last job has ended."""
OF_RECORDINGS: tuple[Kind, ...] = ("next", "start", "number", "reason", "earlier")
PANELS = (
    "queue", "decisions", "details", "matrix", "partitions", "versus", "matches", "prints", "code", "strip", "metrics",
    "events",
)  # fmt: skip
COLOURS = (
    "job", "user", "queue", "partition", "width", "length", "wait", "slowdown", "estimate", "passed", "versus",
)  # fmt: skip
Zoom: TypeAlias = "Literal['all', 'first'] | tuple[str, str]"
"""Part of the run in a scene's chart: "all" (whole run), "first" (first view of a replay), or (begin, end) as text."""


class LessonError(FileError):
    """Error in a lesson: its file cannot be read, or one of its statements is false in the run."""

    others: tuple[LessonError, ...] = ()
    """Other errors in the same lesson; empty if there are none or another error has them."""

    @classmethod
    def first_of(cls, wrong: Iterable[LessonError]) -> LessonError:
        first, *others = sorted(wrong, key=lambda error: error.line or 0)
        first.others = tuple(others)
        return first


@dataclass(frozen=True)
class Ask:
    """Question of a scene; the program computes the right answer from the run."""

    kind: Kind
    question: str = ""
    """Text of the question; "" for the standard text of its kind."""
    job: str = ""
    """Name of the job about whose start the question is"""
    of: str = ""
    """Name of the number that the question is about, such as `J3.wait`; see `sim.classroom.lessons.names`"""
    among: tuple[str, ...] = ()
    """Specs of the policies between which the user chooses the answer."""
    under: str = ""
    """Spec of the policy of a second run; the question is which job gains or loses most in it"""
    within: float = 0.0
    """Largest relative error (0.1 for 10 %) with which an answered number counts as right; 0 for the default."""
    then: str = ""
    """Text that is shown with the answer, after the reason that the program gives."""


@dataclass(frozen=True)
class LessonScene:
    """Scene of a lesson. A field that is None keeps its value from the previous scene."""

    title: str = ""
    say: str = ""
    notes: str = ""
    """Notes of the scene for the teacher, which learners do not see."""
    at: str | None = None
    """Time or step at which the scene takes place, or "end" for the end of the run."""
    when: str | None = None
    """Condition such as "job 5 starts": the scene is at the next step that meets it."""
    before: str | None = None
    """Condition such as "job 5 starts": the scene is just before the next step that meets it."""
    policy: str | None = None
    """Policy of the whole run from this scene on, perhaps with a kind of estimates: `easy with exact`."""
    switch: str | None = None
    """Spec of a policy that replaces the run's policy from the time of this scene on, and in this scene only."""
    compare: str | None = None
    """Policy of a second run, shown next to the first, from the beginning; `compare_here` is from this time on."""
    compare_here: str | None = None
    show: tuple[str, ...] | None = None
    over: str | None = None
    """Name of the panel that is shown over the chart if the screen is too small for both."""
    zoom: Zoom | None = None
    select: str | None = None
    colour: str | None = None
    ask: Ask | None = None
    holds: tuple[str, ...] = ()
    """Statements, such as `J5.end <= J3.start`, on which the scene's text relies; they are checked in the run."""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    """For each key of the scene: number of its line in the file; key "" has the line where the scene begins."""

    def line(self, key: str) -> int:
        return self.lines.get(key, self.lines.get("", 0))


@dataclass(frozen=True)
class Lesson:
    """Lesson: a trace, a policy, and scenes with texts and questions."""

    name: str
    title: str
    trace: str
    """Name of a sample, or path of a file in the lesson's folder."""
    scenes: tuple[LessonScene, ...]
    policy: str = "easy"
    paper: str = ""
    about: str = ""
    exercise: str = ""
    """Text of an exercise, which is shown as the last scene; "" for none."""
    solution: str = ""
    """Solution of the exercise for the teacher, with numbers of the runs; "" for none."""
    holds: tuple[str, ...] = ()
    """Statements on which the solution relies; they are checked in the run."""
    options: Mapping[str, Any] = field(default_factory=dict)
    placement: Placement = "lowest"
    picture: int = 1
    """Number of the scene, counted from 1, whose chart is used as the lesson's picture."""
    path: str = ""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    recording: str = ""
    """Path of a recording, for a lesson on the screen of a cluster; "" for a lesson with a `trace`."""

    @property
    def count(self) -> int:
        return len(self.scenes) + bool(self.exercise)

    @property
    def following(self) -> str:
        """Return the name of the next lesson of the course; "" for the last one and for other lessons."""
        place = ORDER.index(self.name) + 1 if self.name in ORDER[:-1] else 0
        return ORDER[place] if place else ""

    def wrong(self, what: str, scene: LessonScene | None = None, key: str = "") -> LessonError:
        line = self.lines.get(key, 0) if scene is None else scene.line(key)
        return LessonError(what, self.path or self.name, line)
