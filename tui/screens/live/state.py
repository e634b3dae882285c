"""The choices of a user on the screen of a live machine."""

from __future__ import annotations

from dataclasses import dataclass

from sim.stops.grammar import Stop

JUMPS = {
    "event": ("start", "completion", "arrival", "node", "suspension", "reservation"),
    "start": ("start",), "completion": ("completion",), "arrival": ("arrival",), "node": ("node",), "moved": ("moved",),
}  # fmt: skip
"""Name of what brackets go to -> kinds of events."""


@dataclass(frozen=True)
class LiveState:
    """The choices themselves."""

    selected: int | None = None
    hovered: int | None = None
    partition: str = ""
    mine: int = 0
    """0 shows the queue in its own order, 1 my jobs first, 2 only mine."""
    mode: str = "job"
    jump: str = "event"
    picture: int | None = None
    """The number of a picture; None follows the newest one."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[tuple[int, str], ...] = ()
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    """The panel upon a small chart."""
    alone: bool = False
    said: str = ""
