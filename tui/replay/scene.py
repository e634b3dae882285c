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
"""Name in place of a policy that a question asks for."""


@dataclass(frozen=True)
class About:
    """Trace and options of the watched run."""

    trace: str
    """Name of the trace on the command line."""
    caption: str
    workload: Workload
    read: Trace
    """Trace without its table, because the workload has the needed values."""

    def of(self, scene: Scene) -> About:
        """Return the same facts for a run whose jobs have other estimates."""
        there = self.workload if scene.chart is None else scene.chart.workload
        return self if there is self.workload else replace(self, workload=there)


@dataclass(frozen=True, slots=True)
class StripScene:
    """Data of the strip of the whole run so far, with a value for each column."""

    begin: float
    end: float
    """Last time that the strip shows; up to `known` the run has been computed."""
    known: float
    utilization: tuple[float | None, ...]
    """Share of used processors by column; None if not computed yet."""
    waiting: tuple[float | None, ...]
    """Number of waiting jobs by column; None if not computed yet."""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Metrics over the time so far, at about fifty points, for small plots."""

    utilization: tuple[float, ...] = ()
    waiting: tuple[float, ...] = ()
    wanted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class VersusScene:
    """Comparison of two runs of one workload at one time; the first is the watched one."""

    specs: tuple[str, str]
    """Specs of the policies of both runs."""
    names: tuple[str, str]
    """Names of the runs in columns and sentences."""
    totals: tuple[Totals, Totals]
    level: CommonJobs
    """Metrics of both runs over the jobs that ended in both."""
    r: float | None
    """R of Lawson & Smirni for the mean bounded slowdowns: above 0 the second run is better. None with too few jobs."""
    shifts: Shifts
    parting: Divergence | None = None
    """First difference of the runs; None if unknown or if the runs are equal."""
    headline: tuple[str, ...] = ()
    """Texts on the first difference and both decisions, from the longest to the shortest."""
    told: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Sentences about the decisions of each run at the first difference."""
    never: bool = False
    """True if the runs never differ."""
    led: tuple[str, str] | None = None
    """Names with the policies before a switch; None if neither run has a switch."""
    comparison: Comparison | None = None
    """Comparison of the complete runs, once both are computed."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Scene at one time of a run."""

    snapshot: Snapshot
    clock: float
    """Time that is shown: not before the snapshot's, and before the next step."""
    known_steps: int
    """Number of computed steps of the run."""
    complete: bool
    """True if the whole run has been computed."""
    chart: ChartScene | None
    strip: StripScene
    job: JobState | None = None
    series: Series = Series()
    branch: str = "main"
    branches: tuple[BranchRecord, ...] = (BranchRecord("main"),)
    """All branches, with the switches that made them."""
    hues: Mapping[int, int] = field(default_factory=dict)
    """Hues of the jobs that panels name, by rank."""
    then: Snapshot | None = None
    """State before the selected decision of the step; None if the whole step is shown."""
    decisions: tuple[Decision, ...] = ()
    """All decisions of this step."""
    printed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Lines that the policy printed last, up to this step, with their steps: untrusted text."""
    numbers: tuple[tuple[Column, tuple[tuple[float, float], ...]], ...] = ()
    """Times and values of the policy's numbers for the selected job, as far as they have been read."""
    versus: VersusScene | None = None
    """Other run, None if only one is shown."""
    code: PassCode | None = None
    """Lines of the policy's code in this step; None if the panel is hidden."""
    is_veiled: bool = False
    """True if an open question hides the future."""

    @property
    def known(self) -> float:
        """Return the last time that has been computed."""
        return self.strip.known

    @property
    def has_lanes(self) -> bool:
        """Return True if the chart shows partitions as lanes, with their names and sizes."""
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
