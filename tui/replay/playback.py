"""Playback: the replay moves on, or back, as real time passes, at the chosen speed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from tui.replay import requests as o
from tui.replay.navigation import Halted, Traveller
from tui.replay.requests import Wish
from tui.replay.speed import PASSING

if TYPE_CHECKING:
    from sim.stops.grammar import Stop

A_FRAME = 0.02
"""Seconds of computing between two frames when playing as fast as possible."""


class Playback:
    """Mover of a navigator, a little further at each request of the screen, until something stops it."""

    def __init__(self, traveller: Traveller) -> None:
        self._traveller = traveller
        self._rest = 0.0
        """Seconds for which the present step must still be shown, when playing from event to event"""

    def play(self, order: o.Play, wish: Wish, halted: Halted) -> str | None:
        """Move as far as playback goes in one request. Return why playback ends; None if it continues."""
        stops, speed = wish.stops, order.speed
        if order.direction < 0:
            return self._play_back(order, halted)
        if speed.moment:
            return self._play_events(order, lambda: self._play_step(stops, halted), halted)
        if speed.seconds == inf:
            return self._play_at_top_speed(stops, halted)
        target = self._traveller.clock + order.seconds * speed.seconds
        return self._traveller.halt_on_the_way(stops, halted, until_time=target) or self._traveller.seek_time(
            target, halted
        )

    def _play_events(self, order: o.Play, go: Callable[[], str | None], halted: Halted) -> str | None:
        """Move step by step with `go`; each step is shown for a while, one without a decision more briefly."""
        if self._rest > 0:
            self._rest -= order.seconds
        while self._rest <= 0 and not halted():
            if told := go():
                self._rest = 0.0
                return told
            moment = order.speed.moment
            self._rest += moment if self._traveller.stage.snapshot.decisions else moment * PASSING
        return None

    def _play_step(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        target = self._traveller.step + 1
        go = self._traveller
        return go.halt_on_the_way(stops, halted, until_step=target) or go.seek(target, halted)

    def _play_at_top_speed(self, stops: tuple[Stop, ...], halted: Halted) -> str | None:
        """Move on by as many steps as can be computed within a frame, at most to one that meets one of `stops`."""
        until = perf_counter() + A_FRAME
        while perf_counter() < until and not halted():
            go, target = self._traveller, self._traveller.step + 50
            if told := go.halt_on_the_way(stops, halted, until_step=target) or go.seek(target, halted):
                return told
        return None

    def _play_back(self, order: o.Play, halted: Halted) -> str | None:
        stage, timeline, speed = self._traveller.stage, self._traveller.stage.timeline, order.speed
        if speed.moment:
            return self._play_events(order, lambda: self._back(1), halted)
        if speed.seconds < inf:
            self._traveller.seek_time(max(self._traveller.clock - order.seconds * speed.seconds, stage.begin), halted)
            if stage.clock > stage.begin:
                return None
        return self._back(max(timeline.computed // 100, 1))

    def _back(self, steps: int) -> str | None:
        timeline = self._traveller.stage.timeline
        timeline.seek(max(timeline.step - steps, 0))
        self._traveller.stage.set_clock()
        return None if timeline.step else "this is the beginning"
