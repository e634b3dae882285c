"""Cameras (visible parts) of both charts; they show the same time, and turn pages during playback."""

from __future__ import annotations

from dataclasses import replace

from tui.chart.scale import PAGE, Camera
from tui.screens.replay.controlled import ControlledScreen
from tui.widgets.gantt import Gantt

A_GLANCE = 0.25
"""Longest time in seconds between two pictures during playback, even if now has not moved on the chart."""
A_PAGE = 1.5
"""Shortest time in seconds for which a page is shown; if pages would be shorter, the chart scrolls."""


class Cameras:
    """Cameras of the charts of both compared runs; both always show the same time."""

    def __init__(self, screen: ControlledScreen) -> None:
        self._screen = screen

    def moved(self, moved: Gantt, camera: Camera, by_size: bool) -> None:
        """Show in both charts what the camera of one of them shows.

        `by_size` is True if only the size of that chart changed; then the other chart does not move.
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
        """Turn pages during playback, or scroll if pages would be too short to be seen."""
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
        """Return the seconds between two pictures during playback, which are more if little moves."""
        state = self._screen.state
        return 0.0 if state.camera is None else min(state.rate.pace(state.camera.seconds), A_GLANCE)
