"""Comparison of two runs for the screen: its texts, and the colours of both charts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sim.comparison.comparison_sentences import BY_CHANCE, headline, names_of, names_of_jobs, only_in_one, what_it_did
from sim.comparison.divergence import Divergence
from sim.comparison.live_comparison import LiveComparison
from sim.history.past import specs_of
from sim.history.running_totals import Totals
from sim.metrics.aggregates import ratio
from sim.support.formatting import clock, clock_near, printable
from sim.workload.outages import capacity
from tui.chart.axis import Axis, Steps
from tui.chart.chart_maker import axis_by_event
from tui.look.palette import Hue
from tui.replay.requests import VERSUS, Wish
from tui.replay.scene import Scene, VersusScene

if TYPE_CHECKING:
    from tui.replay.stage import RunView


class Versus(LiveComparison):
    """Comparison of the run on the screen with another run."""

    def __init__(self, one: RunView, other: RunView) -> None:
        self._stages = one, other
        self._steps = Steps()
        super().__init__(one.timeline, other.timeline)

    def scene(self, moment: float) -> VersusScene:
        self.follow()
        one, other = (_totals_at(stage, moment) for stage in self._stages)
        specs = self.branches[0].title, self.branches[1].title
        level = self.level(moment)
        scene = VersusScene(
            specs=specs,
            led=(_policies_of(specs[0], self._stages[0]), _policies_of(specs[1], self._stages[1])),
            names=names_of(specs),
            totals=(one, other),
            level=level,
            r=ratio(*level.mean_bounded_slowdown) if level.is_level else None,
            shifts=self.shifts(moment),
            never=self.never,
            comparison=self.comparison,
            waiting=(len(self._stages[0].snapshot.queue), len(self._stages[1].snapshot.queue)),
            pairing=self.pairing,
            of_both=self._of_both(specs),
        )
        return scene if self.parting is None else self._with_parting(scene, self.parting)

    def _of_both(self, specs: tuple[str, str]) -> str:
        workloads = self._stages[0].workload, self._stages[1].workload
        told = only_in_one(self.pairing, workloads, names_of(specs))
        return f"{told} {BY_CHANCE}" if told and any("random" in spec for spec in specs) else told

    def axis(self, moment: float) -> Axis:
        """Return an axis for both charts: a position for each step of either run, then one for each planned time."""
        steps = self._steps.together([stage.steps() for stage in self._stages], moment)
        return axis_by_event(self._steps.kind, steps, [stage.snapshot for stage in self._stages], moment)

    def _with_parting(self, scene: VersusScene, parting: Divergence) -> VersusScene:
        shortest = printable(
            f"first difference at {clock(parting.time)} over {names_of_jobs(parting, self.branches[0].engine.workload)}"
        )
        if len(self.accounts) < len(self.branches):
            return replace(scene, parting=parting, headline=(shortest,))
        one, other = self.accounts
        whole = headline(parting, scene.names, (one, other))
        at = clock_near(parting.time)
        first, second = (
            tuple(printable(what_it_did(account, at)) for account in accounts) for accounts in (one, other)
        )
        brief = re.sub(" waiting: [^;]*", " waiting", whole)
        shorter = (brief.replace("first difference at", words, 1) for words in ("differ at", "at"))
        lines = whole, brief, *shorter, shortest
        return replace(scene, parting=parting, headline=lines, told=(first, second))

    def painted(self, scene: Scene, other: bool, wish: Wish) -> Scene:
        """Return the scene with its run's name; mode `VERSUS` colours how much earlier or later jobs start."""
        names = names_of((self.branches[0].title, self.branches[1].title))
        if scene.chart is None:
            return scene
        shift = self.shift(not other, scene.clock)
        chart = replace(
            scene.chart,
            label=names[other],
            label_hue=(Hue.ONE, Hue.OTHER)[other],
            is_told=wish.other == other,
            shift=shift,
        )
        if wish.colour != VERSUS:
            return replace(scene, chart=chart)
        hues = np.where(shift < 0, Hue.COOL, np.where(shift > 0, Hue.WARM, Hue.GREY)).astype(np.uint8)
        chart = replace(chart, mode=VERSUS, hues=hues, legend=LEGEND_OF_SHIFTS)
        return replace(scene, chart=chart, hues={rank: int(hues[rank]) for rank in scene.hues})


def _totals_at(stage: RunView, moment: float) -> Totals:
    """Return the metrics of a run, with the utilization until `moment`, so that both runs count the same time."""
    shown = stage.snapshot
    if shown.time is None or shown.matrix is not None or moment <= shown.time:  # rows may take turns until then
        return shown.totals
    known, more = (capacity(shown.outages, shown.procs, stage.begin, end) for end in (shown.time, moment))
    used = shown.totals.utilization * known + (shown.there - shown.free) * (moment - shown.time)
    return shown.totals._replace(utilization=used / more if more else 0.0)


def _policies_of(title: str, stage: RunView) -> str:
    switches = [of for of in stage.snapshot.switches if of.step > 1 and of.was not in ("", of.spec)]
    return specs_of(switches[0].was if switches else title, switches)


LEGEND_OF_SHIFTS = (Hue.COOL, "earlier than in the other run"), (Hue.WARM, "later"), (Hue.GREY, "the same")
"""Legend of both charts, each of which is compared with the other"""
