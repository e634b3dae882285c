"""Scene: the immutable values of one frame, made by the worker for the widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sim.code.lines import PassCode
from sim.decisions.decisions import Decision
from sim.engine.snapshot import Snapshot
from sim.history.running_totals import Totals
from sim.life.job_state import JobState
from sim.policies.columns import Column
from sim.session.session import BranchRecord
from sim.workload.model import Trace, Workload
from tui.chart.hover import Spot, free_text, hover_text
from tui.chart.lanes import busy_at
from tui.chart.planned import planned_start
from tui.chart.scene import ChartScene, Mark
from tui.look.calendar import Calendar

if TYPE_CHECKING:
    from sim.comparison.differences import Comparison
    from sim.comparison.divergence import Divergence
    from sim.comparison.live_comparison import CommonJobs, Shifts
    from sim.stops.search import Match
    from sim.timeline.branch import Course
    from sim.workload.pairing import Pairing


UNNAMED = "?"
"""Text that is shown in place of a policy's name while an open question asks for it."""


@dataclass(frozen=True)
class About:
    """Trace and options of the run on the screen, which do not change while it is watched."""

    trace: str
    caption: str
    workload: Workload
    read: Trace
    """Trace as read from the file, without its table of jobs, because `workload` has the same values."""

    def of(self, scene: Scene) -> About:
        """Return a copy with the workload of the scene's run, whose jobs may have other estimates."""
        there = self.workload if scene.chart is None else scene.chart.workload
        return self if there is self.workload else replace(self, workload=there)


@dataclass(frozen=True, slots=True)
class StripScene:
    """Curves of the whole run in the strip below the chart; each curve has one value for each column of the strip."""

    begin: float
    end: float
    """Last time in the strip, in seconds; the run is computed only up to `known`."""
    known: float
    utilization: tuple[float | None, ...]
    """Used share of the processors in each column; None where the run is not computed yet."""
    waiting: tuple[float | None, ...]
    """Number of waiting jobs in each column; None where the run is not computed yet."""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Mean values of metrics in about fifty equal parts of the time until now."""

    utilization: tuple[float, ...] = ()
    waiting: tuple[float, ...] = ()
    wanted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchesScene:
    """First steps that meet the condition `stop`, the number of others, and the searched `share` of the run."""

    stop: str
    found: tuple[Match, ...]
    more: int
    share: float


@dataclass(frozen=True, slots=True)
class VersusScene:
    """Comparison of two runs of one workload at one time; the first run is the one on the screen."""

    specs: tuple[str, str]
    names: tuple[str, str]
    """Short names of both runs, for headings of columns and for sentences."""
    totals: tuple[Totals, Totals]
    level: CommonJobs
    """Metrics of both runs over the jobs that have ended in both until now."""
    r: float | None
    """Ratio R of Lawson & Smirni: how much better the second is; None if too many ended in only one run."""
    shifts: Shifts
    parting: Divergence | None = None
    headline: tuple[str, ...] = ()
    """Sentence on the first difference and both decisions; the longest first, the first that fits is shown."""
    told: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """For each run: sentences on what it decided at the first difference."""
    never: bool = False
    led: tuple[str, str] | None = None
    """Titles of both runs, with all policies that each had and when they took over; None if not known."""
    comparison: Comparison | None = None
    waiting: tuple[int, int] = (0, 0)
    """Waiting jobs of each run, which differ also where jobs wait for others to be submitted."""
    pairing: Pairing | None = None
    """Jobs that both runs have; None if both have the same ones."""
    of_both: str = ""
    """Sentence on the jobs that only one run has; "" if there are none."""

    def rank(self, rank: int | None, in_other: bool) -> int | None:
        """Return the rank of a job of the first run in that run or, `in_other`, in the second; None if not there."""
        return self.pairing.rank(rank) if in_other and self.pairing is not None else rank

    def own_rank(self, rank: int | None) -> int | None:
        """Return the rank in the first run of a job of the second one; None if only the second one has it."""
        return rank if self.pairing is None else self.pairing.turned.rank(rank)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that the screen shows of a run at one time."""

    snapshot: Snapshot
    clock: float
    """Time shown: that of the snapshot or later, but before the next step; in seconds."""
    known_steps: int
    complete: bool
    chart: ChartScene | None
    strip: StripScene
    job: JobState | None = None
    series: Series = Series()
    branch: str = "main"
    branches: tuple[BranchRecord, ...] = (BranchRecord("main"),)
    """All branches of the run, each with the switches of the policy that were made in it."""
    hues: Mapping[int, int] = field(default_factory=dict)
    then: Snapshot | None = None
    """State before the selected decision of the step; None if the step is shown as a whole."""
    decisions: tuple[Decision, ...] = ()
    """All decisions of this step, also those after the selected decision."""
    printed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Pairs (step, lines that the user-defined policy printed) of the last steps."""
    numbers: tuple[tuple[Column, tuple[tuple[float, float], ...]], ...] = ()
    """The policy's columns about the selected job: pairs (time, value), as far as they are collected."""
    versus: VersusScene | None = None
    course: Course | None = None
    """Policies, failures and placement of the run, to repeat it with other jobs; None if they are not known."""
    matches: MatchesScene | None = None
    """Steps that meet the user's condition, as far as they are found; None if there is no condition."""
    code: PassCode | None = None
    """Lines of the policy's code that ran in this step; None if the panel with the code is hidden."""
    is_veiled: bool = False
    names_of_numbers: frozenset[str] | None = None
    """Names of all numbers that policies write; None if a policy such as adaptive may select another one."""
    names_of_variables: frozenset[str] | None = None
    """Names of the variables in the policies' code; None as above."""

    @property
    def known(self) -> float:
        return self.strip.known

    @property
    def has_lanes(self) -> bool:
        """Return True if the chart's lanes already show names and sizes of partitions."""
        return self.chart is not None and self.chart.by_owner is not None

    @property
    def levels(self) -> tuple[float, int]:
        shown = self.snapshot
        return busy_at(shown, self.clock) / shown.there if shown.there else 0.0, len(shown.queue)

    def planned_start(self, rank: int) -> float | None:
        return planned_start(self.snapshot, rank)

    def hover(self, rank: int, calendar: Calendar | None = None) -> str:
        return "" if self.chart is None else hover_text(self.chart, self.snapshot, rank, calendar)

    def hover_free(self, spot: Spot, calendar: Calendar | None = None) -> str:
        is_kept_back = self.is_veiled and spot.time > self.clock
        return "" if self.chart is None or is_kept_back else free_text(self.chart, spot, calendar)
