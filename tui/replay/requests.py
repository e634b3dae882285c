"""Requests of the screen to the worker, and the worker's answers, as plain values."""

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
"""Parts of a scene that an open question of a lesson hides: "" for none, "plan" for plans and decisions, "policy" for
the policy as well
"""
VERSUS = "versus"
"""Name of the colour mode in which a job's colour says if it starts earlier or later than in the compared run."""

# Requests


class GoTo(NamedTuple):
    """Request to go to the step with this number; 0 is the time before the first step."""

    step: int
    branch: str | None = None
    """Name of the branch to which the step belongs; None for the present one."""


class Move(NamedTuple):
    """Request to go forwards by some steps, or back by a negative number."""

    steps: int


class GoToTime(NamedTuple):
    """Request to go to this time, which may be between two steps."""

    time: float
    scrubbed: bool = False
    """True if the request comes from dragging the pointer over the strip with the whole run; all requests of one drag
    count as one move
    """


class GoToJob(NamedTuple):
    """Request to go to the submission of a job or, with `start`, to its first start."""

    rank: int
    start: bool = False


class GoToLongest(NamedTuple):
    """Request to find the job that waited longest in the whole run, select it, and go to its start."""


class GoToMostOvertaken(NamedTuple):
    """Request to find the job that was passed by the most others in the whole run, select it, and go to its start."""


class GoToEnd(NamedTuple):
    """Request to go to the end of the run, or to the first step before it that meets a stop condition."""

    stops: tuple[Stop, ...] = ()


class Play(NamedTuple):
    """Request to continue playback at `speed` for `seconds` of real time; with direction -1, the replay moves back."""

    seconds: float
    speed: Speed
    direction: int = 1


class Find(NamedTuple):
    """Request to go to the next step (with direction -1, the previous one) that meets this condition."""

    stop: Stop
    direction: int = 1


class GoToStop(NamedTuple):
    """Request to go to the next step (with direction -1, the previous one) that meets one of the conditions `stops`."""

    stops: tuple[Stop, ...]
    direction: int = 1


class GoToTurn(NamedTuple):
    """Request to go to the next turn (time slice) of any row of the gang-scheduling matrix; with direction -1, to the
    previous turn.
    """

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
    """Request to show another branch at the present time of the replay."""

    branch: str


class Draw(NamedTuple):
    """Request to write the chart as a picture to a file."""

    path: Path
    width: int
    height: int
    theme: str


BESIDE = "beside"
"""Name of the branch that exists only for a comparison; no other branch may have this name."""


class Compare(NamedTuple):
    """Request to compare this run with a run under this policy, from now on or from the start."""

    policy: Policy
    from_start: bool = False


class CompareBranch(NamedTuple):
    """Request to compare this run with another branch."""

    branch: str


class CompareFrom(NamedTuple):
    """Request to compare this run with a run under this policy, which branches off `branch` after `step` steps. If
    `time` is set, it branches off at that time, between this step and the next one.
    """

    policy: Policy
    branch: str
    step: int
    time: float | None = None


class Restore(NamedTuple):
    """Request to go back to a saved place: the `branches` are made again, and the step `step` of `branch` is shown."""

    branches: tuple[BranchRecord, ...]
    branch: str
    step: int = 0
    clock: float | None = None
    """Time shown if it was between the step and the next one; None if it was the time of the step."""
    beside: CompareBranch | CompareFrom | None = None


class CompareNoMore(NamedTuple):
    """Request to end the comparison."""


class GoToParted(NamedTuple):
    """Request to go to the first difference of the run and the compared run."""

    remade: bool = False
    """True to go to the first difference of the reloaded run and the run that it replaced, even if other runs are being
    compared.
    """


class TakeBack(NamedTuple):
    """Request to undo the last move."""


class Renew(NamedTuple):
    """Request to repeat the run in the background with new policies, because the code of a file has changed."""

    title: str
    policies: Mapping[str, Policy]
    """For the spec of each policy that is replaced: the new policy"""


class Measure(NamedTuple):
    """Request for text on what happened between two times."""

    begin: float
    end: float
    told: str
    """Text about the span of time, with which the message begins."""


class Reverse(NamedTuple):
    """Request to go back to the last decision that changed `what`: the planned start of a job, the job on a processor,
    or the division of the processors into partitions.
    """

    what: What


Order: TypeAlias = (
    GoTo | Move | GoToTime | GoToJob | GoToLongest | GoToMostOvertaken | GoToEnd | Play | Find | GoToStop | GoToTurn
    | SwitchTo | Break | Restart | Fork | LookAt | TakeBack
    | Draw | Restore | Compare | CompareBranch | CompareNoMore | GoToParted | Reverse | Renew | Measure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """View that the user has chosen: everything that determines the picture, except the place in the run."""

    camera: Camera
    beside: Camera | None = None
    """Camera of the compared run's chart, which may have another height; None if there is no such chart."""
    strip_columns: int = 80
    selected: int | None = None
    colour: str = "job"
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    other: bool = False
    """True if the panels describe the compared run, and keys move that run step by step."""
    decision: int | None = None
    """Index of the decision that the user has selected, so that the state before this decision is shown; None to show
    the step as a whole.
    """
    veil: Veil = ""
    """Parts of the scene that an open question hides."""
    marks: tuple[Mark, ...] = ()
    """Marks to draw in the chart in addition to switches and bookmarks."""
    code: bool = False
    """True if the panel with the policy's code is visible."""


# Answers


class Scenes(NamedTuple):
    """Answer with the scene of the run and, in a comparison, that of the compared run. `answers` is the number of
    requests and wishes that the worker had handled before it made these scenes.
    """

    scene: Scene
    beside: Scene | None
    answers: int


class Stopped(NamedTuple):
    """Answer that the replay has stopped, at a condition or at the end of the run."""

    why: str


class Noticed(NamedTuple):
    """Answer that the job with this rank was found; the screen then selects it."""

    rank: int
    told: str = ""
    """Message for the user; "" for none."""


class Failed(NamedTuple):
    """Answer that a request failed, with an error message; the screen stays as it is."""

    message: str


class News(NamedTuple):
    """Answer with the result of a reload, which repeats the run after the code of a policy was saved."""

    what: str
    is_bad: bool = False
    """True if the reload failed, so that the old run stays."""
    whole: str = ""
    """Longer form of the message `what`; "" if there is none."""


Told: TypeAlias = Scenes | Stopped | Noticed | Failed | News
