"""What a lesson is: a trace, a policy, and scenes that go to a moment, show something, say it and may ask.

Plain values as they stand in a file (`sim.lessons.lesson_file`); nothing here knows whether they hold for the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sim.errors import FileError
from sim.machine.processors import Placement

Kind = Literal["next", "start", "policy", "gains", "loses", "number"]
"""Which job starts next, when a job starts, which policy made this, who gains or loses by another one, a number."""
PAPERS: Mapping[str, str] = {
    "": "To begin with, and in the end",
    "Z": "Zhang et al. 2000",
    "K": "Kettimuthu 2003",
    "ZKP": "Zotkin et al. 2000",
    "W": "Ward et al. 2002",
    "LS": "Lawson and Smirni 2002",
}
"""Where lessons come from, by the short names; a lesson of somebody's own may come from anywhere."""
ORDER = (
    "read-this-chart", "backfilling", "zkp-lies", "zkp-doubled", "zkp-short-first", "zkp-early-end", "w-slip",
    "w-starving", "w-two-windows", "ls-boundaries", "ls-own-queue", "ls-crash", "k-promise", "k-factor", "k-half",
    "k-seats", "z-hole", "z-turns", "z-switch-cost", "z-migration", "which-is-better",
)  # fmt: skip
"""The names of the lessons that come with the program, in the order in which to learn."""
PANELS = ("queue", "decisions", "details", "matrix", "partitions", "versus", "prints", "strip", "metrics")
"""What a scene can show beside the chart."""
COLOURS = (
    "job", "user", "queue", "partition", "width", "length", "wait", "slowdown", "estimate", "passed", "versus",
)  # fmt: skip
"""What a scene can colour jobs by."""
Zoom: TypeAlias = "Literal['all', 'first'] | tuple[str, str]"
"""The whole run, as at first, or from one moment until another."""


class LessonError(FileError):
    """Something in a lesson that cannot be made out, or does not hold."""

    others: tuple[LessonError, ...] = ()
    """What else is wrong, as far as it is known."""

    @classmethod
    def first_of(cls, wrong: Iterable[LessonError]) -> LessonError:
        """Of several the first in the file, which brings the others."""
        first, *others = sorted(wrong, key=lambda error: error.line or 0)
        first.others = tuple(others)
        return first


@dataclass(frozen=True)
class Ask:
    """A question; what is right is found in the run."""

    kind: Kind
    question: str = ""
    """In words of the lesson's own; "": the usual ones."""
    job: str = ""
    """Whose start is asked for."""
    of: str = ""
    """The name of the number that is asked for."""
    among: tuple[str, ...] = ()
    """The runs to choose from."""
    under: str = ""
    """The other run, in which somebody gains or loses."""
    within: float = 0.0
    """How far from a number an answer may be, as a share of it; 0: as usual."""
    then: str = ""
    """What is said when the answer is seen, behind the program's own reason."""


@dataclass(frozen=True)
class Scene:
    """One moment of a lesson; None: as in the scene before."""

    title: str = ""
    say: str = ""
    notes: str = ""
    """For the teacher."""
    at: str | None = None
    """A time or a step."""
    when: str | None = None
    """A condition: the first moment after the scene before at which it comes true."""
    before: str | None = None
    """A condition: as `when`, but just before that moment."""
    policy: str | None = None
    """The whole run under this policy from now on; `easy with exact`: and with these estimates."""
    switch: str | None = None
    """From this moment on another policy, in this scene."""
    compare: str | None = None
    """Beside it, in this scene, the run under this policy; with `compare_here` from this moment on."""
    compare_here: str | None = None
    show: tuple[str, ...] | None = None
    """The panels."""
    over: str | None = None
    """The panel that lies over the chart on a small screen."""
    zoom: Zoom | None = None
    select: str | None = None
    """The job that glows."""
    colour: str | None = None
    ask: Ask | None = None
    holds: tuple[str, ...] = ()
    """What must be so, such as `J5.end <= J3.start`: claims that the words make."""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    """On which line of the file each of this stands; "": where the scene begins."""

    def line(self, key: str) -> int:
        return self.lines.get(key, self.lines.get("", 0))


@dataclass(frozen=True)
class Lesson:
    """Scenes on one trace."""

    name: str
    title: str
    trace: str
    """The name of a sample, or the path of a file beside the lesson."""
    scenes: tuple[Scene, ...]
    policy: str = "easy"
    paper: str = ""
    about: str = ""
    """What it is about, in a line."""
    exercise: str = ""
    """What to try afterwards: the last scene says it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    placement: Placement = "lowest"
    picture: int = 1
    """The scene whose chart stands for the lesson, counted from 1."""
    path: str = ""
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def count(self) -> int:
        """Its scenes, and that with what to try."""
        return len(self.scenes) + bool(self.exercise)

    def wrong(self, what: str, scene: Scene | None = None, key: str = "") -> LessonError:
        """An error at that key of a scene, or of the lesson."""
        line = self.lines.get(key, 0) if scene is None else scene.line(key)
        return LessonError(what, self.path or self.name, line)
