"""Scene: the immutable values of one frame, made by the worker for the widgets.

`About` is what does not change while a run is watched; a `Scene` is one time of it. Nothing here knows Textual, and
nothing that draws a scene asks the engine anything.
"""

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
from tui.chart.planned import planned_start
from tui.chart.scene import ChartScene, Mark
from tui.look.calendar import Calendar

if TYPE_CHECKING:
    from sim.comparison.differences import Comparison
    from sim.comparison.divergence import Divergence
    from sim.comparison.live_comparison import CommonJobs, Shifts


UNNAMED = "?"
"""Name that hides a policy which a question asks for."""


@dataclass(frozen=True)
class About:
    """Trace and options of the run on the screen."""

    trace: str
    """Name of the trace, as on the command line."""
    caption: str
    workload: Workload
    read: Trace
    """Trace as read, without its table, whose values the workload has."""

    def of(self, scene: Scene) -> About:
        """Return the same for the run of a scene, whose jobs may have other estimates."""
        there = self.workload if scene.chart is None else scene.chart.workload
        return self if there is self.workload else replace(self, workload=there)


@dataclass(frozen=True, slots=True)
class StripScene:
    """Values of the strip with the whole run so far, one for each of its columns."""

    begin: float
    end: float
    """Last time in the strip; the run is computed up to `known`."""
    known: float
    utilization: tuple[float | None, ...]
    """Used share of the processors in each column; None where the run is not computed yet."""
    waiting: tuple[float | None, ...]
    """Number of waiting jobs in each column; None where the run is not computed yet."""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Values of some metrics over the time so far, at about fifty times, for small plots."""

    utilization: tuple[float, ...] = ()
    waiting: tuple[float, ...] = ()
    wanted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class VersusScene:
    """Comparison of two runs of one workload at one time; the first run is the one on the screen."""

    specs: tuple[str, str]
    """Specs of the policies of both runs."""
    names: tuple[str, str]
    """Short names of both runs, for columns and sentences."""
    totals: tuple[Totals, Totals]
    level: CommonJobs
    """Metrics of both runs over the jobs that ended in both."""
    r: float | None
    """R of Lawson & Smirni for the mean bounded slowdowns: above 0 if the second run is better; None with too few
    jobs.
    """
    shifts: Shifts
    parting: Divergence | None = None
    """First difference of the runs; None if it is not known."""
    headline: tuple[str, ...] = ()
    """Lines on the first difference and both decisions, the longest first."""
    told: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Sentences on what each run decided at the first difference."""
    never: bool = False
    """True if it is certain that the runs never differ."""
    led: tuple[str, str] | None = None
    """Names of both runs with their earlier policies; None if neither run has switched."""
    comparison: Comparison | None = None
    """Comparison of the whole runs; None until both are computed."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that the screen shows of a run at one time."""

    snapshot: Snapshot
    clock: float
    """Time shown: that of the snapshot or later, but before the next step."""
    known_steps: int
    """Number of steps of the run that are computed."""
    complete: bool
    """True if the run is computed to its end."""
    chart: ChartScene | None
    strip: StripScene
    job: JobState | None = None
    series: Series = Series()
    branch: str = "main"
    branches: tuple[BranchRecord, ...] = (BranchRecord("main"),)
    """All branches, each with the switches that it made."""
    hues: Mapping[int, int] = field(default_factory=dict)
    """Hues of the jobs that panels name, by rank."""
    then: Snapshot | None = None
    """State before the selected decision of the step; None if the step is shown as a whole."""
    decisions: tuple[Decision, ...] = ()
    """All decisions of this step."""
    printed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Lines that the policy printed in the last steps, each with its step; they come from foreign code."""
    numbers: tuple[tuple[Column, tuple[tuple[float, float], ...]], ...] = ()
    """Numbers that the policy wrote for the selected job, each with times and values, as far as they are collected."""
    versus: VersusScene | None = None
    """Comparison with another run, or None."""
    code: PassCode | None = None
    """Lines of the policy's code that ran in this step; None if the panel is hidden."""
    is_veiled: bool = False
    """True if an open question hides what comes next."""

    @property
    def known(self) -> float:
        """Return the time up to which the run is computed."""
        return self.strip.known

    @property
    def has_lanes(self) -> bool:
        """Return True if partitions have lanes in the chart, so that their names and sizes are visible there."""
        return self.chart is not None and self.chart.by_owner is not None

    @property
    def levels(self) -> tuple[float, int]:
        """Return the share of the processors in use and the number of waiting jobs."""
        shown = self.snapshot
        return 1 - shown.free / shown.there if shown.there else 0.0, len(shown.queue)

    def planned_start(self, rank: int) -> float | None:
        return planned_start(self.snapshot, rank)

    def hover(self, rank: int, calendar: Calendar | None = None) -> str:
        return "" if self.chart is None else hover_text(self.chart, self.snapshot, rank, calendar)

    def hover_free(self, spot: Spot, calendar: Calendar | None = None) -> str:
        return "" if self.chart is None else free_text(self.chart, spot, calendar)
