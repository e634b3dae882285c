"""Thumbnail: a small chart of a trace at the time at which it opens, made without a screen or a worker."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.chart.scene import ChartScene
from tui.replay.navigation import Traveller
from tui.replay.opening import opening_of
from tui.replay.requests import GoToTime, Wish
from tui.replay.stage import RunView


class Thumbnail:
    """Run at one time, drawn as a small chart: the whole run with few jobs, or the period `window`."""

    def __init__(self, stage: RunView, window: tuple[float, float] | None = None) -> None:
        self._stage, self._window = stage, window

    @classmethod
    def of_sample(cls, sample: str) -> Thumbnail:
        """Return the thumbnail of a sample, which is simulated up to the time at which it opens."""
        prepared = opening_of(Source(sample)).prepare()
        stage = RunView(prepared.timeline)
        if isinstance(prepared.first, GoToTime):
            Traveller(stage).seek_time(prepared.first.time, lambda: False)
        return cls(stage)

    def chart(self, columns: int, rows: int) -> ChartScene:
        """Return a chart of this many pixels; with few jobs it shows the whole run."""
        camera = Camera.on(self._stage.workload, columns, rows)
        if self._window is not None or not camera.follow:
            camera = self._fitting(replace(camera, follow=False))
        while True:
            chart = self._stage.scene(Wish(camera)).chart
            if chart is not None and not chart.pending:
                return chart

    def _fitting(self, camera: Camera) -> Camera:
        """Return the camera in which all, or the window, just fits; a column may be any time."""
        chart, begin = self._stage.scene(Wish(camera)).chart, self._stage.begin
        end = max((box.end for box in chart.plan), default=self._stage.clock) if chart else self._stage.clock
        begin, end = self._window or (begin, end)
        per_column = max(end - begin, 1) / camera.columns
        return replace(camera, per_column=per_column, first=floor(begin / per_column))
