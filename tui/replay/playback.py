"""Playing: so much time has passed on the wall, and the replay moves on, or back, as its speed says."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from tui.replay import requests as o
from tui.replay.navigation import Halted, Traveller
from tui.replay.requests import Wish
from tui.replay.speed import Speed

if TYPE_CHECKING:
    from sim.stops.stop import Stop

A_FRAME = 0.02
"""Seconds of stepping between two frames at top speed."""


class Playback:
    """Lets a traveller go on piece by piece, as far as no condition to stop at comes true."""

    def __init__(self, traveller: Traveller) -> None:
        self._traveller = traveller
        self._owed = 0.0
        """Events that are owed to a clock that counts events."""

    def play(self, order: o.Play, wish: Wish, halted: Halted) -> str | None:
        """One piece of playing; why it ends, if it does."""
        stops, speed = wish.stops, order.speed
        if order.direction < 0:
            return self._play_back(order.seconds, speed)
        if speed.events:
            return self._play_events(order.seconds * speed.events, stops, halted)
        if speed.seconds == inf:
            return self._play_at_top_speed(stops, halted)
        target = self._traveller.stage.clock + order.seconds * speed.seconds
        return self._stop_on_the_way(stops, halted, until_time=target) or self._traveller.seek_time(target, halted)

    def _play_events(self, events: float, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        steps = self._due(events)
        if not steps:
            return None
        target = self._traveller.step + steps
        return self._stop_on_the_way(stops, halted, until_step=target) or self._traveller.seek(target, halted)

    def _due(self, events: float) -> int:
        """How many whole events there are with those that are owed."""
        self._owed += events
        due = int(self._owed)
        self._owed -= due
        return due

    def _play_at_top_speed(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        """As many steps as a frame has time for."""
        until = perf_counter() + A_FRAME
        while perf_counter() < until and not halted():
            target = self._traveller.step + 50
            if told := self._stop_on_the_way(stops, halted, until_step=target) or self._traveller.seek(target, halted):
                return told
        return None

    def _stop_on_the_way(self, stops: tuple[Stop, ...], halted: Halted, **until: float) -> str | None:
        """Does a condition come true before that? Then the replay stands there."""
        if not stops:
            return None
        from sim.stops.search import search_forward

        found = search_forward(self._traveller.stage.timeline, stops, halted, **until)
        if found is None:
            return None
        self._traveller.stage.set_clock()
        return f"stopped: {found[1].text}"

    def _play_back(self, seconds: float, speed: Speed) -> str | None:
        stage, timeline = self._traveller.stage, self._traveller.stage.timeline
        if speed.seconds and speed.seconds < inf:
            stage.clock = max(stage.clock - seconds * speed.seconds, stage.begin)
            timeline.seek_time(stage.clock)
            if stage.clock > stage.begin:
                return None
        steps = self._due(seconds * speed.events) if speed.events else max(timeline.computed // 100, 1)
        timeline.seek(max(timeline.step - steps, 0))
        stage.set_clock()
        return None if timeline.step else "this is the beginning"
