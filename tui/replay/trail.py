"""Trail of the replay: its place before each move of the user, as long as the program runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from tui.replay import requests as o
from tui.replay.requests import Order

STEPS = o.Move, o.Play, o.Draw, o.Measure, o.Restore, o.Renew, o.TakeBack
"""Types of requests that are not undone as moves: a step is undone by a step, and playback by going back."""
MOST = 1000


class Place(NamedTuple):
    """Branch, step and clock of the replay, and the run it is compared with."""

    branch: str
    step: int
    clock: float
    beside: o.CompareBranch | o.CompareFrom | None = None


class Trail:
    """List of the places before each move, the last one at the end."""

    def __init__(self) -> None:
        self._left: list[Place] = []
        self._was_scrubbed = False

    def leave(self, place: Place) -> None:
        """Append a place; the oldest is dropped if there are too many."""
        self._left.append(place)
        del self._left[:-MOST]

    def note(self, order: Order, was: Place, now: Place) -> None:
        """Append the place before a request that moved elsewhere; a whole drag is one move."""
        is_scrubbed = isinstance(order, o.GoToTime) and order.scrubbed
        if was != now and not isinstance(order, STEPS) and not (is_scrubbed and self._was_scrubbed):
            self.leave(was)
        self._was_scrubbed = is_scrubbed

    def take_back(self, branches: Collection[str]) -> Place | None:
        """Remove and return the last place whose branches still exist, or None."""
        while self._left:
            place = self._left.pop()
            needed = {place.branch} if place.beside is None else {place.branch, place.beside.branch}
            if all(name in branches for name in needed):
                return place
        return None
