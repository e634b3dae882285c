"""Thumbnail of a lesson: a small chart of the scene that the lesson names as its picture."""

from __future__ import annotations

from collections.abc import Iterable

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance, Staged
from sim.classroom.lessons.recorded import poll_numbers
from sim.live.cluster.observed import Observed
from sim.live.cluster.recording import Recording
from sim.live.cluster.values import Cluster
from sim.workload.formats.zone import zone_here
from tui.chart.scene import ChartScene
from tui.live.chart import ChartMaker, Wish, first_camera
from tui.replay.navigation import Traveller
from tui.replay.stage import RunView
from tui.replay.thumbnail import Thumbnail


class LiveThumbnail:
    def __init__(self, pictures: Iterable[Cluster]) -> None:
        self._observed = Observed(zone_here())
        for cluster in pictures:
            self._observed.add(cluster)

    def chart(self, columns: int, rows: int) -> ChartScene:
        observed, clock = self._observed, self._observed.moments[-1]
        assert observed.last is not None
        return ChartMaker().make(observed, observed.last, clock, first_camera(observed, clock, columns, rows), Wish())


def thumbnail(name: str) -> Thumbnail | LiveThumbnail:
    lesson = found_lesson(name)
    if lesson.recording:
        pictures = tuple(Recording(lesson.recording).pictures())
        return LiveThumbnail(pictures[: poll_numbers(lesson, pictures)[lesson.picture - 1] + 1])
    made = Performance(lesson)
    for scene in lesson.scenes[: lesson.picture]:
        staged = made.stage(scene)
    return of_scene(made, staged)


def of_scene(made: Performance, staged: Staged) -> Thumbnail:
    made.runs.timeline.look_at(staged.moment.branch)
    stage = RunView(made.runs.timeline)
    Traveller(stage).seek_time(staged.moment.clock, lambda: False)
    return Thumbnail(stage, staged.window)
