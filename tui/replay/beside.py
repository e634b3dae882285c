"""Two runs beside each other as a screen shows them: in words, and in the colours of their charts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sim.comparison.alongside import Alongside
from sim.comparison.parting import Account, Parting
from sim.comparison.telling import about, headline, names_of, tell
from sim.metrics.aggregates import ratio
from sim.words import clock, clock_near, printable
from tui.chart.scene import ChartScene
from tui.look.palette import Hue
from tui.replay.scene import VersusScene

if TYPE_CHECKING:
    from tui.replay.stage import Stage

LEGEND = (
    (int(Hue.COOL), "earlier here"),
    (int(Hue.WARM), "later here"),
    (int(Hue.GREY), "the same, or not known"),
)


class Versus(Alongside):
    """The run that is watched, and the one beside it."""

    def __init__(self, one: Stage, other: Stage) -> None:
        self._stages = one, other
        super().__init__(one.timeline, other.timeline)

    def scene(self, moment: float) -> VersusScene:
        """How the runs stand against each other at this moment."""
        self.follow()
        one, other = (stage.snapshot.totals for stage in self._stages)
        specs = self.branches[0].engine.state.spec, self.branches[1].engine.state.spec
        both_ended = one.finished and other.finished
        scene = VersusScene(
            specs=specs,
            names=names_of(specs),
            totals=(one, other),
            r=ratio(one.mean_bounded_slowdown, other.mean_bounded_slowdown) if both_ended else None,
            shifts=self.shifts(moment),
            never=self.never,
            comparison=self.comparison,
        )
        return scene if self.parting is None else self._with_parting(scene, self.parting)

    def _with_parting(self, scene: VersusScene, parting: Parting) -> VersusScene:
        shortest = printable(
            f"first parted at {clock(parting.time)} over {about(parting, self.branches[0].engine.workload)}"
        )
        if len(self.accounts) < len(self.branches):
            return replace(scene, parting=parting, headline=(shortest,))
        one, other = self.accounts
        whole = headline(parting, scene.names, (one, other))
        at = clock_near(parting.time)
        first, second = (tuple(printable(tell(account, at)) for account in accounts) for accounts in (one, other))
        telling = _telling(whole, scene.names, (one[0], other[0]))
        lines = whole, telling, *map(_without_reason, (whole, telling)), shortest
        return replace(scene, parting=parting, headline=lines, told=(first, second))

    def painted(self, chart: ChartScene, first: bool) -> ChartScene:
        """The same chart, coloured by who starts earlier and later than in the other run."""
        hues = self.hues(first)
        # Two greys, by what colour a job has otherwise, so that neighbours are told apart.
        hues[(hues == Hue.GREY) & (chart.hues % 2 == 1)] = Hue.PALE
        return replace(chart, mode="versus", hues=hues, legend=LEGEND)

    def hues(self, first: bool) -> NDArray[np.uint8]:
        """rank -> hue in the first or the second run; grey as long as it is not known in both."""
        self.follow()
        return np.array([Hue.COOL, Hue.GREY, Hue.WARM], np.uint8)[self.later(first) + 1]


def _telling(whole: str, names: tuple[str, str], first: tuple[Account, Account]) -> str:
    """Of a headline only what the run did that left things as they were: it says why."""
    here, _, there = whole.partition(f"; {names[1]} ")
    if first[0].act is not None or first[1].act is None:
        return f"{here.partition(f': {names[0]} ')[0]}: {names[1]} {there}"
    return here


def _without_reason(told: str) -> str:
    """A headline without why a job is kept waiting.

    >>> _without_reason("A keeps J1 waiting: needs 4, 2 free; B starts J1")
    'A keeps J1 waiting; B starts J1'
    """
    return re.sub(" waiting: [^;]*", " waiting", told)
