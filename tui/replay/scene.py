"""Values of one frame, immutable, made by the worker for the widgets.

`About` is what does not change while a run is watched; a `Scene` is one moment of it. Nothing here knows Textual, and
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
    """Trace without its table, as the workload has the needed values."""

    def of(self, scene: Scene) -> About:
        """Return the same for a run whose jobs have other estimates."""
        there = self.workload if scene.chart is None else scene.chart.workload
        return self if there is self.workload else replace(self, workload=there)


@dataclass(frozen=True, slots=True)
class StripScene:
    """The whole run so far, in as many columns as the strip has."""

    begin: float
    end: float
    """The first and the last moment that the strip shows; up to `known` the run has been computed."""
    known: float
    utilization: tuple[float | None, ...]
    """Share of the processors that are occupied, by column; None: not computed yet."""
    waiting: tuple[float | None, ...]
    """Jobs that wait, by column."""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """The numbers so far over time, in some fifty columns of the time that has passed: for small plots."""

    utilization: tuple[float, ...] = ()
    waiting: tuple[float, ...] = ()
    wanted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class VersusScene:
    """Two runs of one workload at one moment; the first is the one that is watched."""

    specs: tuple[str, str]
    """The policies."""
    names: tuple[str, str]
    """Names of the runs in columns and sentences."""
    totals: tuple[Totals, Totals]
    level: CommonJobs
    """Metrics of both runs over the jobs that ended in both."""
    r: float | None
    """LS's R of these mean bounded slowdowns: above 0 the second is better. None: too few have ended in both."""
    shifts: Shifts
    parting: Divergence | None = None
    """First difference of the runs; None if unknown or none."""
    headline: tuple[str, ...] = ()
    """First difference and both decisions in one line, from full to shortest."""
    told: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Sentences about the decisions of each run at the first difference."""
    never: bool = False
    """True if the runs never differ."""
    led: tuple[str, str] | None = None
    """The policies, those before a switch too; None: there was none."""
    comparison: Comparison | None = None
    """Comparison of the complete runs, once both are computed."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment."""

    snapshot: Snapshot
    clock: float
    """The moment that is shown: not before the snapshot's, and before the next step."""
    known_steps: int
    """How many steps of the run have been computed."""
    complete: bool
    """True if the whole run has been computed."""
    chart: ChartScene | None
    strip: StripScene
    job: JobState | None = None
    series: Series = Series()
    branch: str = "main"
    branches: tuple[BranchRecord, ...] = (BranchRecord("main"),)
    """All there are, with the switches that made them."""
    hues: Mapping[int, int] = field(default_factory=dict)
    """rank -> colour of the jobs that panels name."""
    then: Snapshot | None = None
    """State before the decision walked to."""
    decisions: tuple[Decision, ...] = ()
    """All decisions of this step."""
    printed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """(step, lines) of what the policy printed last, up to this moment: foreign text."""
    numbers: tuple[tuple[Column, tuple[tuple[float, float], ...]], ...] = ()
    """(time, value) of the policy's own numbers of the selected job, as far as they have been read."""
    versus: VersusScene | None = None
    """Other run, None if only one is shown."""
    code: PassCode | None = None
    """Lines of the policy's code in this step; None if the panel is hidden."""
    is_veiled: bool = False
    """True if a question hides the future."""

    @property
    def known(self) -> float:
        """Return the last moment that has been computed."""
        return self.strip.known

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
