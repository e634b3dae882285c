"""State of the view of a replay as plain values, independent of a terminal."""

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
from tui.screens.replay.layout import WEIGHTS

if TYPE_CHECKING:
    from sim.lessons.walk import Walk
    from sim.stops.grammar import Stop
    from tui.replay.opening import Note

ON_REQUEST = frozenset({"code"})
"""Panels that are hidden until the user shows them, and are not part of 'all panels'."""
PANELS = (*WEIGHTS, "strip", "metrics")
"""Names of the panels that can be hidden."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """State of the view; controllers replace it as a whole."""

    camera: Camera | None = None
    """Camera of the chart; None until it has a size."""
    beside: Camera | None = None
    """Camera of the other run's chart, which may have another height."""
    selected: int | None = None
    hovered: int | None = None
    spot: Spot | None = None
    """Last position of the pointer in the chart."""
    other: bool = False
    """True if the panels show the other run."""
    decision: int | None = None
    """Number of decisions of the step until the selected decision; None if the whole step is shown."""
    phase: int | None = None
    """Phase of the last rebuild of the matrix that is shown."""
    order: QueueOrder | None = None
    """Sort order of the queue; None for the policy's."""
    dates: bool = False
    """True if times are shown as dates, for traces that have a start date."""
    colour: str = "job"
    speed: int = 0
    aside: int | None = None
    """Speed to restore when playback switches between the clock and events."""
    direction: int = 1
    playing: bool = False
    pages: bool = True
    """True if the chart turns pages during playback, False if it scrolls."""
    jump: str = "start"
    """Kind of event to which the bracket keys jump."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    """Name of the panel next to a small chart, or None."""
    alone: str | None = None
    """Name of the panel that has the whole screen, or None."""
    projected: bool = False
    """True on a projector, which shows the chart with one caption in strong colours, and a pointer."""
    note: Note | None = None
    """Note above the chart at the time to which it belongs, or None."""
    said: str = ""
    """Message shown in place of the sentence about the state; "" for none."""
    walk: Walk | None = None
    """Lesson that is shown, with its progress; None outside of lessons."""
    news: News | None = None
    """Result of the reload after a policy's file was saved."""

    @property
    def veil(self) -> Veil:
        """Return the part of the screen that an open question hides."""
        asked = None if self.walk is None or self.walk.is_off else self.walk.open_question
        return "" if asked is None else "policy" if asked.kind == "policy" else "plan"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return the marks in the chart of the user's guess and of the right answer."""
        guess = None if self.walk is None or self.walk.is_off else self.walk.guess
        return () if guess is None else (Mark(guess[0], "guess", "your guess"), Mark(guess[1], "guess", "it is here"))

    @property
    def rate(self) -> Speed:
        return SPEEDS[self.speed]


def first_view(
    workload: Workload,
    panels: Mapping[str, bool] | None = None,
    colour: str | None = None,
    speed: str | None = None,
) -> ViewState:
    """Return the first view of a run, with the user's settings."""
    lasts = float(workload.submit[-1] - workload.submit[0] + workload.estimate.max()) if len(workload) else 0.0
    hidden = {
        name for name, is_shown in ({**dict.fromkeys(ON_REQUEST, False), **(panels or {})}).items() if not is_shown
    }
    return ViewState(
        colour=colour if colour in MODES else "job",
        speed=first_speed(lasts, speed),
        hidden=frozenset(hidden & {*PANELS}),
    )
