"""State of the screen of an observed cluster: the user's choices."""

from __future__ import annotations

from dataclasses import dataclass

from sim.stops.grammar import Stop

JUMPS = {
    "event": ("start", "completion", "arrival", "node", "suspension", "reservation"),
    "start": ("start",), "completion": ("completion",), "arrival": ("arrival",), "node": ("node",), "moved": ("moved",),
}  # fmt: skip
"""Kinds of events for each name of a jump by brackets."""


@dataclass(frozen=True)
class LiveState:
    """Choices of the user on this screen."""

    selected: int | None = None
    hovered: int | None = None
    partition: str = ""
    mine: int = 0
    """Choice for the queue: 0 shows its own order, 1 the user's jobs first, 2 only the user's jobs."""
    mode: str = "job"
    jump: str = "event"
    picture: int | None = None
    """Number of the shown picture; None follows the newest one."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[tuple[int, str], ...] = ()
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    """Name of the panel that covers a small chart, or None."""
    alone: bool = False
    said: str = ""
