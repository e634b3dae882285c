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
"""Kind of hidden parts of a scene: none, plans and decisions, or these and the policy"""
VERSUS = "versus"
"""Name of the colouring of jobs that start earlier or later than in the compared run."""

# Requests


class GoTo(NamedTuple):
    """Request to go to this step; 0 is before the first."""

    step: int
    branch: str | None = None
    """Branch of the step; None for the current one."""


class Move(NamedTuple):
    """Request to go some steps forwards, or back."""

    steps: int


class GoToTime(NamedTuple):
    """Request to go to this time, which may be between two steps."""

    time: float
    scrubbed: bool = False
    """True while the pointer is dragged over the strip"""


class GoToJob(NamedTuple):
    """Request to go to the step at which the job is submitted, or at which it first starts."""

    rank: int
    start: bool = False


class GoToLongest(NamedTuple):
    """Request to go to the start of the job that waited longest in the whole run, and select it."""


class GoToMostOvertaken(NamedTuple):
    """Request to go to the start of the job passed by the most others in the whole run, and select it."""


class GoToEnd(NamedTuple):
    """Request to go to the end of the run, or to the first step before it that meets a stop condition."""

    stops: tuple[Stop, ...] = ()


class Play(NamedTuple):
    """Request to advance by some seconds of playback."""

    seconds: float
    speed: Speed
    direction: int = 1


class Find(NamedTuple):
    """Request to go to the next step (with direction -1, the previous one) that meets this condition."""

    stop: Stop
    direction: int = 1


class GoToStop(NamedTuple):
    """Request to go to the next step (with direction -1, the previous one) that meets a stop condition."""

    stops: tuple[Stop, ...]
    direction: int = 1


class GoToTurn(NamedTuple):
    """Request to go to the next turn of a row of the matrix; with direction -1, to the previous one."""

    direction: int = 1


class SwitchTo(NamedTuple):
    """Request to switch to another policy from now on, in a new branch."""

    policy: Policy


class Break(NamedTuple):
    """Request to let these processors fail from now until a time, in a new branch."""

    processors: int
    until: float


class Restart(NamedTuple):
    """Request to start again with another policy, in a new branch."""

    policy: Policy


class Fork(NamedTuple):
    """Request to fork a new branch at the current step."""


class LookAt(NamedTuple):
    """Request to switch to another branch, at the same time."""

    branch: str


class Draw(NamedTuple):
    """Request to write the chart to a file, as a drawing."""

    path: Path
    width: int
    height: int
    theme: str


BESIDE = "beside"
"""Name of the branch that is made for a comparison; no other branch has it."""


class Compare(NamedTuple):
    """Request to compare with this policy from now on, or from the start."""

    policy: Policy
    from_start: bool = False


class CompareBranch(NamedTuple):
    """Request to compare with another branch."""

    branch: str


class CompareFrom(NamedTuple):
    """Request to compare with a fork of a branch under this policy, after `forked` steps, or at a time before
    the next.
    """

    policy: Policy
    branch: str
    step: int
    time: float | None = None


class Restore(NamedTuple):
    """Request to restore a place: the branches, and the cursor's step."""

    branches: tuple[BranchRecord, ...]
    branch: str
    step: int = 0
    clock: float | None = None
    """Time between two steps, if the place was between two; else None."""
    beside: CompareBranch | CompareFrom | None = None


class CompareNoMore(NamedTuple):
    """Request to end the comparison."""


class GoToParted(NamedTuple):
    """Request to go to the first difference of the two runs."""

    remade: bool = False
    """True to compare the reloaded run with the one before, even during another comparison."""


class TakeBack(NamedTuple):
    """Request to undo the last move."""


class Renew(NamedTuple):
    """Request to reload the run in the background with these policies, whose code has changed."""

    title: str
    policies: Mapping[str, Policy]
    """Policy that each spec names after the change of its file"""


class Measure(NamedTuple):
    """Request to measure the span between two times."""

    begin: float
    end: float
    told: str
    """Text on the span for a message before the result."""


class Reverse(NamedTuple):
    """Request to go back to the last decision that changed this value."""

    what: What


Order: TypeAlias = (
    GoTo | Move | GoToTime | GoToJob | GoToLongest | GoToMostOvertaken | GoToEnd | Play | Find | GoToStop | GoToTurn
    | SwitchTo | Break | Restart | Fork | LookAt | TakeBack
    | Draw | Restore | Compare | CompareBranch | CompareNoMore | GoToParted | Reverse | Renew | Measure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """View options of a user: everything that is visible in addition to the place in the run."""

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
    """Index of the selected decision of the step; the state before it is needed, too."""
    veil: Veil = ""
    """Kind of the parts that are hidden while a question is open."""
    marks: tuple[Mark, ...] = ()
    """Marks at times that the chart shows."""
    code: bool = False
    """True if the code of the policy is shown."""


# Answers


class Scenes(NamedTuple):
    """Scene of the run, and of the compared run; it answers the first `answered` requests and views."""

    scene: Scene
    beside: Scene | None
    answers: int


class Stopped(NamedTuple):
    """Answer: the replay stopped at a condition or at the end of the run."""

    why: str


class Noticed(NamedTuple):
    """Answer: this job was found."""

    rank: int
    told: str = ""
    """Message to show first, "" for none."""


class Failed(NamedTuple):
    """Answer: the request failed; the scene stays."""

    message: str


class News(NamedTuple):
    """Answer: the result of a reload."""

    what: str
    is_bad: bool = False
    """True if the reload failed, and the old run stays."""
    whole: str = ""
    """Longer message, "" if there is none."""


Told: TypeAlias = Scenes | Stopped | Noticed | Failed | News
