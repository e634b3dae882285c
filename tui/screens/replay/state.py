"""State of the replay's view as plain values, which need no terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.session.session import Bookmark
from sim.workload.model import Workload
from tui.chart.colours import MODES
from tui.chart.hover import Spot
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.panels.context import QueueOrder
from tui.replay.requests import News, Veil
from tui.replay.speed import SPEEDS, Speed, first_speed
from tui.screens.replay.side import SIDE

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from tui.replay.guide import Guide
    from tui.replay.opening import Note

ON_REQUEST = frozenset({"code"})
"""Panels that stay hidden until each is opened, even by the action that shows all."""
PANELS = (*SIDE, "strip", "metrics")


@dataclass(frozen=True, slots=True)
class ViewState:
    """State of the view: all that the user has chosen. Controllers replace it as a whole."""

    camera: Camera | None = None
    beside: Camera | None = None
    """Camera of the compared run's chart, which may have another height, or None."""
    selected: int | None = None
    hovered: int | None = None
    spot: Spot | None = None
    other: bool = False
    """True if the panels show the compared run, False for the first one."""
    decision: int | None = None
    walked: int | None = None
    """Number of the step whose decisions were walked through to its end, or None."""
    phase: int | None = None
    """Phase of the matrix's last rebuild that is shown; None for the matrix after all phases."""
    order: QueueOrder | None = None
    dates: bool = False
    """True if times are shown as dates, which needs a trace with a start date."""
    colour: str = "job"
    speed: int = 0
    aside: int | None = None
    """Speed last used in the other mode of playback (clock or events); None for its default."""
    direction: int = 1
    playing: bool = False
    pages: bool = True
    """True if the chart jumps ahead by pages during playback, False if it scrolls."""
    jump: str = "start"
    """Kind of event to which the keys [ and ] go."""
    stops: tuple[Stop, ...] = ()
    matching: Stop | None = None
    """Condition of which a panel lists every step that meets it, or None."""
    bookmarks: tuple[Bookmark, ...] = ()
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    alone: str | None = None
    projected: bool = False
    """True for projectors: chart with one line of text, strong colours and the mouse pointer drawn."""
    note: Note | None = None
    said: str = ""
    guide: Guide | None = None
    news: News | None = None
    """Result of the last reload of a policy's file, until the user dismisses it; None at any other time."""
    filmed: bool = False
    """True while a film of the screen is made: the sentence below the chart then names no keys."""

    @property
    def veil(self) -> Veil:
        return self.guide.veil if self.guide else ""

    @property
    def marks(self) -> tuple[Mark, ...]:
        return self.guide.marks if self.guide else ()

    @property
    def rate(self) -> Speed:
        return SPEEDS[self.speed]


def first_view(
    workload: Workload, panels: Mapping[str, bool] | None = None, colour: str | None = None, speed: str | None = None
) -> ViewState:
    lasts = float(workload.submit[-1] - workload.submit[0] + workload.estimate.max()) if len(workload) else 0.0
    hidden = {
        name for name, is_shown in ({**dict.fromkeys(ON_REQUEST, False), **(panels or {})}).items() if not is_shown
    }
    return ViewState(
        colour=colour if colour in MODES else "job",
        speed=first_speed(lasts, speed),
        hidden=frozenset(hidden & {*PANELS}),
    )
