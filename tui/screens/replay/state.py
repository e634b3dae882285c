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
    from sim.lessons.walk import Walk
    from sim.stops.grammar import Stop
    from tui.replay.opening import Note

ON_REQUEST = frozenset({"code"})
"""Names of the panels that stay hidden until the user opens each of them; the action that shows all panels does not
show these.
"""
PANELS = (*SIDE, "strip", "metrics")
"""Names of the panels that the user can hide."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """State of the view: all that the user has chosen. Controllers replace it as a whole."""

    camera: Camera | None = None
    """Camera of the chart; None until the chart has a size."""
    beside: Camera | None = None
    """Camera of the compared run's chart, which may have another height; None if there is no such chart."""
    selected: int | None = None
    hovered: int | None = None
    spot: Spot | None = None
    """Place in the chart where the mouse pointer was last, or None."""
    other: bool = False
    """True if the panels show the compared run, False for the first one."""
    decision: int | None = None
    """Index of the selected decision of the step; None if the step is shown as a whole."""
    phase: int | None = None
    """Number of the phase of the last rebuild of the matrix that is shown; None for the matrix after all phases."""
    order: QueueOrder | None = None
    """Order in which the user has sorted the queue; None for the policy's order."""
    dates: bool = False
    """True if times are shown as dates, which needs a trace with a start date."""
    colour: str = "job"
    speed: int = 0
    aside: int | None = None
    """Index of the speed last used in the other mode of playback (by clock or by events). It is used again when the
    user changes to that mode; None for the mode's default.
    """
    direction: int = 1
    playing: bool = False
    pages: bool = True
    """True if the chart jumps ahead by pages during playback, False if it scrolls."""
    jump: str = "start"
    """Kind of event to which the keys [ and ] go."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    """Name of the panel that covers half of the chart on a small screen; None if no panel does."""
    alone: str | None = None
    """Name of the panel that has the whole screen, or None."""
    projected: bool = False
    """True if the screen has its form for projectors: the chart with one line of text, in strong colours, with the
    mouse pointer drawn.
    """
    note: Note | None = None
    """Note that is shown above the chart while the replay is at the note's time, or None."""
    said: str = ""
    """Message in place of the sentence below the chart; "" for none."""
    walk: Walk | None = None
    """Lesson that is shown, with the user's place in it, or None."""
    news: News | None = None
    """Result of the last reload of a policy's file, until the user dismisses it; None at any other time."""
    filmed: bool = False
    """True while a film of the screen is made: the sentence below the chart then names no keys."""

    @property
    def veil(self) -> Veil:
        """Return what an open question of a lesson hides: "policy", "plan", or "" for nothing."""
        asked = None if self.walk is None or self.walk.is_off else self.walk.open_question
        return "" if asked is None else "policy" if asked.kind == "policy" else "plan"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Return two marks on the chart, at the time with which the user answered the question and at the correct time;
        empty without such an answer.
        """
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
    """Return the state in which a run is first shown. The user's settings are in the parameters: which of the `panels`
    are shown, the mode of colours, and the speed.
    """
    lasts = float(workload.submit[-1] - workload.submit[0] + workload.estimate.max()) if len(workload) else 0.0
    hidden = {
        name for name, is_shown in ({**dict.fromkeys(ON_REQUEST, False), **(panels or {})}).items() if not is_shown
    }
    return ViewState(
        colour=colour if colour in MODES else "job",
        speed=first_speed(lasts, speed),
        hidden=frozenset(hidden & {*PANELS}),
    )
