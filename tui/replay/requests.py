"""What a person asks of the replay: plain values that the screen sends to the worker, and what it is told back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sim.session.session import Bookmark, BranchRecord
from sim.why.causes import What
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.replay.scene import Scene
from tui.replay.speed import Speed

if TYPE_CHECKING:
    from sim.policies.policy import Policy
    from sim.stops.grammar import Stop

Veil = Literal["", "plan", "policy"]
"""Nothing, or what is planned and decided, or that and under which policy."""
VERSUS = "versus"
"""The way to colour jobs by whether they start earlier or later than in the run beside."""

# Orders


class GoTo(NamedTuple):
    """To this step; 0 is before the first."""

    step: int
    branch: str | None = None
    """Of this branch; None: of the one that is shown."""


class Move(NamedTuple):
    """So many steps on, or back."""

    steps: int


class GoToTime(NamedTuple):
    """To this moment, between two steps where it is."""

    time: float
    scrubbed: bool = False
    """Sent while the pointer is dragged over the strip."""


class GoToJob(NamedTuple):
    """To the step at which the job is submitted, or the one at which it first starts."""

    rank: int
    start: bool = False


class GoToLongest(NamedTuple):
    """To where the job starts that waited longest in the whole run; it is selected."""


class GoToMostOvertaken(NamedTuple):
    """To where the job starts that the most others passed in the whole run; it is selected."""


class GoToEnd(NamedTuple):
    """To the end of the run, or to where one of these conditions is met before it."""

    stops: tuple[Stop, ...] = ()


class Play(NamedTuple):
    """So many seconds of playing have passed."""

    seconds: float
    speed: Speed
    direction: int = 1


class Find(NamedTuple):
    """To the next step (or, with direction -1, the one before) at which this condition comes true."""

    stop: Stop
    direction: int = 1


class GoToStop(NamedTuple):
    """To the next step at which one of these conditions is met; with direction -1, to the one before."""

    stops: tuple[Stop, ...]
    direction: int = 1


class GoToTurn(NamedTuple):
    """To where the next row of the matrix comes on turn; with direction -1, to where the last one did."""

    direction: int = 1


class SwitchTo(NamedTuple):
    """Another policy from here on, in a new branch."""

    policy: Policy


class Break(NamedTuple):
    """These processors fail here, until then, in a new branch."""

    processors: int
    until: float


class Restart(NamedTuple):
    """Another policy from the beginning, in a new branch."""

    policy: Policy


class Fork(NamedTuple):
    """A new branch from here on."""


class LookAt(NamedTuple):
    """Another branch, at the same moment."""

    branch: str


class Draw(NamedTuple):
    """The chart as it is, as a drawing in a file."""

    path: Path
    width: int
    height: int
    theme: str


BESIDE = "beside"
"""The name of the branch that was made to be compared with; no other is called so."""


class Compare(NamedTuple):
    """Beside this run, one that goes on under this policy from here; or from the beginning."""

    policy: Policy
    from_start: bool = False


class CompareBranch(NamedTuple):
    """Beside this run another branch."""

    branch: str


class CompareFrom(NamedTuple):
    """Under this policy a run parted from a branch after so many steps, or at a moment before the next one."""

    policy: Policy
    branch: str
    step: int
    time: float | None = None


class Restore(NamedTuple):
    """To a very moment: the branches grow again, and the cursor goes to where it was."""

    branches: tuple[BranchRecord, ...]
    branch: str
    step: int = 0
    clock: float | None = None
    """The moment between two steps, if it was between two."""
    beside: CompareBranch | CompareFrom | None = None


class CompareNoMore(NamedTuple):
    """One run alone again."""


class GoToParted(NamedTuple):
    """To the first step at which the two runs differ."""

    remade: bool = False
    """The run that was made again and the one before, even while another run is compared."""


class TakeBack(NamedTuple):
    """Back to how it was before the last move."""


class Renew(NamedTuple):
    """Once more with these policies, in the background, up to the moment that is shown: their code is another now."""

    title: str
    policies: Mapping[str, Policy]
    """spec -> the policy that it stands for now"""


class Measure(NamedTuple):
    """Tell what happened between two moments."""

    begin: float
    end: float
    told: str
    """The span in words, to be told before."""


class Reverse(NamedTuple):
    """Back to the last decision that changed this."""

    what: What


Order: TypeAlias = (
    GoTo | Move | GoToTime | GoToJob | GoToLongest | GoToMostOvertaken | GoToEnd | Play | Find | GoToStop | GoToTurn
    | SwitchTo | Break | Restart | Fork | LookAt | TakeBack
    | Draw | Restore | Compare | CompareBranch | CompareNoMore | GoToParted | Reverse | Renew | Measure
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be seen, wherever the replay stands."""

    camera: Camera
    beside: Camera | None = None
    """That of the chart of the run beside it, which may have another height."""
    strip_columns: int = 80
    selected: int | None = None
    colour: str = "job"
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    other: bool = False
    """Is what is told, and stepped through, the run beside?"""
    decision: int | None = None
    """Which decision of the step is walked to: how things stood before it is to be seen, too."""
    veil: Veil = ""
    """What is kept from who is to find it out."""
    marks: tuple[Mark, ...] = ()
    """Moments that have a sign of their own."""


# What the worker tells


class Scenes(NamedTuple):
    """A scene, and that of the run beside it; it answers the first so many orders and wishes."""

    scene: Scene
    beside: Scene | None
    answers: int


class Stopped(NamedTuple):
    """Something made the replay stop: a condition, the end of the run."""

    why: str


class Noticed(NamedTuple):
    """This job is what was looked for."""

    rank: int
    told: str = ""
    """What there is to say of it first."""


class Failed(NamedTuple):
    """Something cannot be done; what has been shown so far stays."""

    message: str


class News(NamedTuple):
    """What has become of the run that was made again."""

    what: str
    is_bad: bool = False
    """There is none: the old one stays."""
    whole: str = ""
    """What there is to say of it, if that is more."""


Told: TypeAlias = Scenes | Stopped | Noticed | Failed | News
