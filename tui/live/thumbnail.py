"""Thumbnail of a lesson about a recording: a small chart of the scene that the lesson names as its picture."""

from __future__ import annotations

from sim.cluster.observed import Observed
from sim.cluster.recording import Recording
from sim.lessons.lesson import Lesson
from sim.lessons.recorded import poll_numbers
from sim.workload.formats.zone import zone_here
from tui.chart.scene import ChartScene
from tui.live.chart import ChartMaker, first_camera


class LiveThumbnail:
    def __init__(self, lesson: Lesson) -> None:
        pictures = tuple(Recording(lesson.recording).pictures())
        self._observed = Observed(zone_here())
        for cluster in pictures[: poll_numbers(lesson, pictures)[lesson.picture - 1] + 1]:
            self._observed.add(cluster)

    def chart(self, columns: int, rows: int) -> ChartScene:
        observed, clock = self._observed, self._observed.moments[-1]
        assert observed.last is not None
        return ChartMaker().make(observed, observed.last, clock, first_camera(observed, clock, columns, rows))
