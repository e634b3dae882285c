"""Requests of the screen to the worker, and the worker's answers: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sim.session.session import Bookmark, BranchRecord
from sim.why.last_change import What
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.replay.scene import Scene
from tui.replay.speed import Speed

if TYPE_CHECKING:
    from sim.policies.policy import Policy
    from sim.stops.grammar import Stop

Veil = Literal["", "plan", "policy"]
"""Parts of a scene that are hidden: none, plans and decisions, or these and the policy."""
VERSUS = "versus"
"""Colouring of jobs that start earlier or later than in the compared run."""

# Requests


class GoTo(NamedTuple):
    """Go to this step; 0 is before the first."""

    step: int
    branch: str | None = None
    """Branch of the step; None for the current one."""


class Move(NamedTuple):
    """Go some steps forwards, or back."""

    steps: int


class GoToTime(NamedTuple):
    """Go to this moment, between two steps if need be."""

    time: float
    scrubbed: bool = False
    """True while the pointer is dragged over the strip"""


class GoToJob(NamedTuple):
    """Go to the step at which the job is submitted, or at which it first starts."""

    rank: int
    start: bool = False


class GoToLongest(NamedTuple):
    """Go to the start of the job that waited longest in the whole run, and select it."""


class GoToMostOvertaken(NamedTuple):
    """Go to the start of the job passed by the most others in the whole run, and select it."""


class GoToEnd(NamedTuple):
    """Go to the end of the run, or to the first step before it that meets one of the conditions."""

    stops: tuple[Stop, ...] = ()


class Play(NamedTuple):
    """Advance by some seconds of playing."""

    seconds: float
    speed: Speed
    direction: int = 1


class Find(NamedTuple):
    """Go to the next step (with direction -1, the previous one) that meets this condition."""

    stop: Stop
    direction: int = 1


class GoToStop(NamedTuple):
    """Go to the next step (with direction -1, the previous one) that meets one of the conditions."""

    stops: tuple[Stop, ...]
    direction: int = 1


class GoToTurn(NamedTuple):
    """Go to the next turn of a row of the matrix; with direction -1, to the last one."""

    direction: int = 1


class SwitchTo(NamedTuple):
    """Switch to another policy from here on, in a new branch."""

    policy: Policy


class Break(NamedTuple):
    """Let these processors fail here until a time, in a new branch."""

    processors: int
    until: float


class Restart(NamedTuple):
    """Start again with another policy, in a new branch."""

    policy: Policy


class Fork(NamedTuple):
    """Fork a new branch here."""


class LookAt(NamedTuple):
    """Switch to another branch, at the same moment."""

    branch: str


class Draw(NamedTuple):
    """Write the chart to a file, as a drawing."""

    path: Path
    width: int
    height: int
    theme: str


BESIDE = "beside"
"""Name of the branch that is made for a comparison; no other branch has it."""


class Compare(NamedTuple):
    """Compare with this policy from here on, or from the start."""

    policy: Policy
    from_start: bool = False


class CompareBranch(NamedTuple):
    """Compare with another branch."""

    branch: str


class CompareFrom(NamedTuple):
    """Fork of a branch after `forked` steps, or at a time before the next step, under this policy."""

    policy: Policy
    branch: str
    step: int
    time: float | None = None


class Restore(NamedTuple):
    """Restore a moment: the branches, and the place of the cursor."""

    branches: tuple[BranchRecord, ...]
    branch: str
    step: int = 0
    clock: float | None = None
    """Time between two steps, if the moment was between two."""
    beside: CompareBranch | CompareFrom | None = None


class CompareNoMore(NamedTuple):
    """End the comparison."""


class GoToParted(NamedTuple):
    """Go to the first difference of the two runs."""

    remade: bool = False
    """Compare the reloaded run with the one before, even during another comparison."""


class TakeBack(NamedTuple):
    """Undo the last move."""


class Renew(NamedTuple):
    """Repeat the run in the background with these policies, whose code has changed, up to the current moment."""

    title: str
    policies: Mapping[str, Policy]
    """spec -> the policy that it stands for now"""


class Measure(NamedTuple):
    """Measure the span between two moments."""

    begin: float
    end: float
    told: str
    """Return the span in words, for a message before the result."""


class Reverse(NamedTuple):
    """Go back to the last decision that changed this value."""

    what: What


Order: TypeAlias = (
    GoTo | Move | GoToTime | GoToJob | GoToLongest | GoToMostOvertaken | GoToEnd | Play | Find | GoToStop | GoToTurn
    | SwitchTo | Break | Restart | Fork | LookAt | TakeBack
    | Draw | Restore | Compare | CompareBranch | CompareNoMore | GoToParted | Reverse | Renew | Measure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """View options: everything that is visible in addition to the place in the run."""

    camera: Camera
    beside: Camera | None = None
    """Camera of the chart of the compared run, which may have another height."""
    strip_columns: int = 80
    selected: int | None = None
    colour: str = "job"
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    other: bool = False
    """True if the panels show the compared run, and keys step through it."""
    decision: int | None = None
    """Decision of the step that is selected; the state before it is needed, too."""
    veil: Veil = ""
    """Parts that are hidden while a question is open."""
    marks: tuple[Mark, ...] = ()
    """Moments with a mark."""
    code: bool = False
    """True if the code of the policy is shown."""


# Answers


class Scenes(NamedTuple):
    """Scene, and that of the compared run; it answers the first `answered` requests and views."""

    scene: Scene
    beside: Scene | None
    answers: int


class Stopped(NamedTuple):
    """The replay stopped at a condition or at the end of the run."""

    why: str


class Noticed(NamedTuple):
    """This job was found."""

    rank: int
    told: str = ""
    """Message to show first."""


class Failed(NamedTuple):
    """The request failed; the scene stays."""

    message: str


class News(NamedTuple):
    """Result of a repeated run."""

    what: str
    is_bad: bool = False
    """True if there is none, and the old run stays."""
    whole: str = ""
    """Longer message, if there is one."""


Told: TypeAlias = Scenes | Stopped | Noticed | Failed | News
