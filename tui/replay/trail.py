"""Trail: the places at which the replay was before each move of the user, so that moves can be undone."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from tui.replay import requests as o
from tui.replay.requests import Order

STEPS = o.Move, o.Play, o.Draw, o.Measure, o.Restore, o.Renew, o.TakeBack
"""Requests that the trail does not undo: steps, playback, and requests that do not move the replay."""
MOST = 1000


class ReplayPlace(NamedTuple):
    branch: str
    step: int
    clock: float
    beside: o.CompareBranch | o.CompareFrom | None = None


class Trail:
    def __init__(self) -> None:
        self._left: list[ReplayPlace] = []
        self._was_scrubbed = False

    def leave(self, place: ReplayPlace) -> None:
        self._left.append(place)
        del self._left[:-MOST]

    def note(self, order: Order, was: ReplayPlace, now: ReplayPlace) -> None:
        """Add the place `was` if the request moved the replay and can be undone; a drag counts as one."""
        is_scrubbed = isinstance(order, o.GoToTime) and order.scrubbed
        if was != now and not isinstance(order, STEPS) and not (is_scrubbed and self._was_scrubbed):
            self.leave(was)
        self._was_scrubbed = is_scrubbed

    def take_back(self, branches: Collection[str]) -> ReplayPlace | None:
        """Return the latest place whose branches still exist, without all later ones; or None."""
        while self._left:
            place = self._left.pop()
            needed = {place.branch} if place.beside is None else {place.branch, place.beside.branch}
            if all(name in branches for name in needed):
                return place
        return None
