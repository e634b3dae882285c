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
    """A run at a moment; of a lesson as much of it as the scene shows."""

    def __init__(self, stage: Stage, window: tuple[float, float] | None = None) -> None:
        self._stage, self._window = stage, window

    @classmethod
    def of_sample(cls, sample: str) -> Sketch:
        """Simulated until the moment that it is about."""
        prepared = opening_of(Source(sample)).prepare()
        stage = Stage(prepared.timeline)
        if isinstance(prepared.first, GoToTime):
            Traveller(stage).seek_time(prepared.first.time, lambda: False)
        return cls(stage)

    @classmethod
    def of_lesson(cls, name: str) -> Sketch:
        """At the scene that stands for it."""
        from sim.lessons.course import found_lesson
        from sim.lessons.performance import Performance

        made = Performance(found_lesson(name))
        for scene in made.lesson.scenes[: made.lesson.picture]:
            staged = made.stage(scene)
        made.runs.timeline.look_at(staged.moment.branch)
        stage = Stage(made.runs.timeline)
        Traveller(stage).seek_time(staged.moment.clock, lambda: False)
        return cls(stage, staged.window)

    def chart(self, columns: int, rows: int) -> ChartScene:
        """Its chart in so many columns and rows of pixels, whole; of few jobs all that was and is planned."""
        camera = Camera.on(self._stage.workload, columns, rows)
        if self._window is not None or not camera.follow:
            camera = self._fitting(replace(camera, follow=False))
        while True:
            chart = self._stage.scene(Wish(camera)).chart
            if chart is not None and not chart.pending:
                return chart

    def _fitting(self, camera: Camera) -> Camera:
        """As closely as that goes: no ticks have to be round here."""
        chart, begin = self._stage.scene(Wish(camera)).chart, self._stage.begin
        end = max((box.end for box in chart.plan), default=self._stage.clock) if chart else self._stage.clock
        begin, end = self._window or (begin, end)
        per_column = max(end - begin, 1) / camera.columns
        return replace(camera, per_column=per_column, first=floor(begin / per_column))
