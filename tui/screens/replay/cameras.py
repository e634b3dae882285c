"""Cameras (visible parts) of both charts, which show the same time. During playback they turn pages: when the present
time is near the right edge, the chart jumps ahead by most of its width.
"""

from __future__ import annotations

from dataclasses import replace

from tui.chart.scale import PAGE, Camera
from tui.replay.requests import (
    Find,
    GoTo,
    GoToEnd,
    GoToJob,
    GoToLongest,
    GoToMostOvertaken,
    GoToParted,
    GoToStop,
    GoToTime,
    GoToTurn,
    LookAt,
    Order,
    Restart,
    Reverse,
    Scenes,
    TakeBack,
)
from tui.screens.replay.controlled import ControlledScreen
from tui.widgets.gantt import Gantt

A_GLANCE = 0.25
"""Longest time in seconds between two pictures during playback, even if the line of the present time has not moved by a
column.
"""
A_PAGE = 1.5
"""Shortest time in seconds for which a page (the part of the chart that is shown until it jumps ahead) must be visible.
If pages would follow faster, the chart scrolls instead.
"""
JUMPS = (
    Find, GoTo, GoToEnd, GoToJob, GoToLongest, GoToMostOvertaken, GoToParted, GoToStop, GoToTime, GoToTurn, LookAt,
    Restart, Reverse, TakeBack,
)  # fmt: skip
"""Requests that may lead to a time far from the present one."""


class Cameras:
    """Cameras of the charts of both compared runs; both always show the same time."""

    def __init__(self, screen: ControlledScreen) -> None:
        self._screen = screen
        self._jump: int | None = None
        """Number of the last request that was a jump, if its answer has not been shown yet; otherwise None."""

    def leave(self, order: Order) -> None:
        """Remember a request that was just sent if it is a jump."""
        if isinstance(order, JUMPS):
            self._jump = self._screen.player.asked

    def arrive(self, shown: Scenes) -> None:
        """Let the charts follow now again if a jump has led out of the part that they show: otherwise nothing of it
        would be seen.
        """
        camera, chart = self._screen.state.camera, shown.scene.chart
        if self._jump is None or shown.answers < self._jump or camera is None or chart is None:
            return
        self._jump = None
        if not camera.follow and not chart.view.shows(shown.scene.clock):
            self._screen.charts[0].action_follow()

    def moved(self, moved: Gantt, camera: Camera, by_size: bool) -> None:
        """Copy the new `camera` of chart `moved` to the other chart.

        If `by_size` is True, only the size of `moved` changed. Then the first run's chart keeps its camera, which is
        copied to the other chart.
        """
        chart, beside = self._screen.charts
        if moved is chart:
            beside.camera = camera
        elif not by_size:
            chart.camera = camera
        elif chart.camera is not None:
            beside.camera = chart.camera
        self._look_there()

    def _look_there(self) -> None:
        screen = self._screen
        chart, beside = screen.charts
        screen.state = replace(screen.state, camera=chart.camera, beside=beside.camera)
        self.turn_pages()
        screen.wish()

    def turn_pages(self) -> None:
        """Change between pages and scrolling during playback: the chart jumps ahead by pages if the user wants that,
        and if each page is visible long enough.
        """
        state, camera = self._screen.state, self._screen.state.camera
        if not state.playing or camera is None or not camera.follow or self._screen.scene is None:
            return
        lasts = (PAGE[1] - PAGE[0]) * camera.columns * state.rate.pace(camera.seconds)
        pages = state.pages and lasts >= A_PAGE
        if pages != camera.pages and (turned := self._screen.charts[0].turning(pages)):
            for gantt in self._screen.charts:
                gantt.camera = turned
            self._look_there()

    @property
    def pace(self) -> float:
        """Return the seconds between two pictures during playback: the time in which the present time moves by one
        column, at most `A_GLANCE`.
        """
        state = self._screen.state
        return 0.0 if state.camera is None else min(state.rate.pace(state.camera.seconds), A_GLANCE)
