"""Requests of the screen to the worker, and the worker's answers, as plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from sim.session.session import Bookmark, BranchRecord
from sim.support.errors import ParameterError, TraceError
from sim.support.formatting import A_TIME, Step, parse_moment, quoted
from sim.why.last_change import What
from sim.workload.job_changes import JobChanges
from sim.workload.model import Field, Workload
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.replay.scene import Scene
from tui.replay.speed import Speed

if TYPE_CHECKING:
    from sim.policies.policy import Policy
    from sim.stops.grammar import Stop

Veil = Literal["", "plan", "policy"]
"""Parts that a lesson's open question hides: "plan" is plans and decisions, "policy" the policy as well"""
VERSUS = "versus"
"""Name of the colour mode in which a job's colour says if it starts earlier or later than in the compared run."""

# Requests


class GoTo(NamedTuple):
    """Request to go to the step with this number; 0 is the time before the first step."""

    step: int
    branch: str | None = None
    """Name of the branch to which the step belongs; None for the present one."""


class Move(NamedTuple):
    steps: int


class GoToTime(NamedTuple):
    """Request to go to this time, which may be between two steps."""

    time: float
    scrubbed: bool = False
    """True for a drag over the strip with the whole run, all requests of which count as one move"""


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
    """Request to go to the next (with direction -1, the previous) turn of any row of the gang-scheduling matrix."""

    direction: int = 1


class SwitchTo(NamedTuple):
    """Request to switch to another policy from now on, in a new branch."""

    policy: Policy


class ChangeJobs(NamedTuple):
    """Request to repeat this run with jobs withdrawn, changed or added, in a new branch."""

    changes: JobChanges


class Break(NamedTuple):
    processors: int
    until: float


class Restart(NamedTuple):
    policy: Policy


class Fork(NamedTuple):
    """Request to fork a new branch at the current step."""


class LookAt(NamedTuple):
    branch: str


class Draw(NamedTuple):
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
    branch: str


class CompareFrom(NamedTuple):
    """Request to compare with a run under this policy, which branches off after `step` steps or at `time`."""

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
    remade: bool = False
    """True for the first difference of a reload, even if other runs are being compared."""


class TakeBack(NamedTuple):
    """Request to undo the last move."""


class Renew(NamedTuple):
    """Request to repeat the run in the background with new policies, because the code of a file has changed."""

    title: str
    policies: Mapping[str, Policy]


class Measure(NamedTuple):
    """Request for text on what happened between two times."""

    begin: float
    end: float
    told: str
    """Text about the span of time, with which the message begins."""


class Reverse(NamedTuple):
    """Request to go back to the last decision that changed a planned start, a processor's job, or the division."""

    what: What


Order: TypeAlias = (
    GoTo | Move | GoToTime | GoToJob | GoToLongest | GoToMostOvertaken | GoToEnd | Play | Find | GoToStop | GoToTurn
    | SwitchTo | ChangeJobs | Break | Restart | Fork | LookAt | TakeBack
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
    branch: str = "main"
    """Branch in whose run the selected job has this rank."""
    colour: str = "job"
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    other: bool = False
    """True if the panels describe the compared run, and keys move that run step by step."""
    decision: int | None = None
    """Index of the selected decision, before which the state is shown; None for the step as a whole."""
    veil: Veil = ""
    marks: tuple[Mark, ...] = ()
    """Marks to draw in the chart in addition to switches and bookmarks."""
    code: bool = False
    matching: Stop | None = None
    """Condition of which every step that meets it is to be found, or None."""


# Answers


class Scenes(NamedTuple):
    """Scene of the run and, in a comparison, of the other; `answers` counts requests and wishes handled before."""

    scene: Scene
    beside: Scene | None
    answers: int


class Stopped(NamedTuple):
    why: str


class Noticed(NamedTuple):
    rank: int
    told: str = ""


class Failed(NamedTuple):
    """Answer that a request failed, with an error message; the screen stays as it is."""

    message: str


class News(NamedTuple):
    """Answer with the result of a reload, which repeats the run after the code of a policy was saved."""

    what: str
    is_bad: bool = False
    whole: str = ""


Told: TypeAlias = Scenes | Stopped | Noticed | Failed | News


# Places.


def parse_place(text: str, workload: Workload, now: float = 0.0) -> Order:
    """Return the request for a typed time, step or job; a time of day means the day of `now`."""
    typed = " ".join(text.split())
    if job := re.fullmatch(r"(?:job (\S+?)|(j ?\S+?))(?: (starts?|submitted))?", typed, re.IGNORECASE):
        return GoToJob(workload.rank_of(job[1] or job[2]), start=(job[3] or "").startswith("start"))
    try:
        moment = parse_moment(typed, now)
    except ParameterError as error:
        if not str(error).startswith(A_TIME):
            raise
        raise ParameterError(
            f"cannot go to {quoted(typed)}: expected a time (12d 4h, d12 04:30), a step (#1200) or "
            "a job (J17, J17 starts)"
        ) from None
    return GoTo(moment.number) if isinstance(moment, Step) else GoToTime(workload.header.seconds_at(moment))


def find_job(text: str, workload: Workload, after: int) -> int:
    """Return the rank of `17` or `J17`, or of the user's (`ann`, `user 3`) next job after rank `after`, else first."""
    user = re.fullmatch(r"user[ :]\s*(.+)", text.strip(), re.IGNORECASE)
    try:
        return workload.rank_of(text)
    except TraceError as no_job:
        if text.strip().isdecimal():
            raise
        try:
            number = workload.number_of(Field.USER, user[1] if user else text.strip())
        except ParameterError as no_user:
            raise no_user if user else no_job from None
    theirs = np.flatnonzero(workload.user == number)
    return int(theirs[np.searchsorted(theirs, after, "right") % len(theirs)])
