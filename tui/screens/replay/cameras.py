"""Cameras of both charts, which show the same time; when now is near the edge, playback turns a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui.chart.scale import PAGE, Camera
from tui.replay import requests as o
from tui.widgets.gantt import Gantt

if TYPE_CHECKING:
    from tui.screens.replay.screen import ReplayScreen

A_GLANCE = 0.25
"""Longest time in seconds between two pictures of playback, even if now has not moved by a column."""
A_PAGE = 1.5
"""Shortest time in seconds for which a page must be visible; else the chart scrolls."""
JUMPS = (
    o.Find, o.GoTo, o.GoToEnd, o.GoToJob, o.GoToLongest, o.GoToMostOvertaken, o.GoToParted, o.GoToStop, o.GoToTime,
    o.GoToTurn, o.LookAt, o.Restart, o.Reverse, o.TakeBack,
)  # fmt: skip


class Cameras:
    """Cameras of the charts of both compared runs; both always show the same time."""

    def __init__(self, screen: ReplayScreen) -> None:
        self._screen = screen
        self._jump: int | None = None
        """Number of the last request that was a jump, if its answer has not been shown yet."""

    def leave(self, order: o.Order) -> None:
        if isinstance(order, JUMPS):
            self._jump = self._screen.player.asked

    def arrive(self, shown: o.Scenes) -> None:
        """Let the charts follow again if a jump led out of what they show, else nothing of it would be seen."""
        camera, chart = self._screen.state.camera, shown.scene.chart
        if self._jump is None or shown.answers < self._jump or camera is None or chart is None:
            return
        self._jump = None
        if not camera.follow and not chart.view.shows(shown.scene.clock):
            self._screen.charts[0].action_follow()

    def moved(self, moved: Gantt, camera: Camera, by_size: bool) -> None:
        """Copy the camera to the other chart; a change by size keeps the first chart's camera instead."""
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
        """Let the chart turn pages during playback if the user wants that and each is visible long enough."""
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
        """Return the seconds in which now moves by a column in playback, at most `A_GLANCE`."""
        state = self._screen.state
        return 0.0 if state.camera is None else min(state.rate.pace(state.camera.seconds), A_GLANCE)
