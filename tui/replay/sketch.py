"""A trace at the moment at which it is opened, as a small chart: no screen and no worker, made when it is asked for."""

from __future__ import annotations

from dataclasses import replace
from math import floor

from sim.workload.source import Source
from tui.chart.scale import Camera
from tui.chart.scene import ChartScene
from tui.replay.navigation import Traveller
from tui.replay.opening import opening_of
from tui.replay.requests import GoToTime, Wish
from tui.replay.stage import Stage


class Sketch:
    """A sample, simulated until the moment that it is about."""

    def __init__(self, sample: str) -> None:
        prepared = opening_of(Source(sample)).prepare()
        self._stage = Stage(prepared.timeline)
        if isinstance(prepared.first, GoToTime):
            Traveller(self._stage).seek_time(prepared.first.time, lambda: False)

    def chart(self, columns: int, rows: int) -> ChartScene:
        """Its chart in so many columns and rows of pixels, whole; of few jobs all that was and is planned."""
        camera = Camera.on(self._stage.workload, columns, rows)
        if not camera.follow:
            camera = self._fitting(camera)
        while True:
            chart = self._stage.scene(Wish(camera)).chart
            if chart is not None and not chart.pending:
                return chart

    def _fitting(self, camera: Camera) -> Camera:
        """As closely as that goes: no ticks have to be round here."""
        chart, begin = self._stage.scene(Wish(camera)).chart, self._stage.begin
        end = max((box.end for box in chart.plan), default=self._stage.clock) if chart else self._stage.clock
        per_column = max(end - begin, 1) / camera.columns
        return replace(camera, per_column=per_column, first=floor(begin / per_column))
