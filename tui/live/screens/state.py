"""State of the screen for an observed cluster: what the user has chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.stops.grammar import Stop
from tui.live.scene import Listing

if TYPE_CHECKING:
    from sim.live.forecast.new_job import Ghost


@dataclass(frozen=True)
class LiveState:
    selected: int | None = None
    hovered: int | None = None
    listing: Listing = Listing()
    mode: str = "job"
    jump: str = "event"
    picture: int | None = None
    """Number of the poll that is shown; None to show the newest poll, and each new one when it arrives."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[tuple[int, str], ...] = ()
    ghost: Ghost | None = None
    """Job that does not exist yet, whose frame the chart shows."""
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    alone: bool = False
    said: str = ""
