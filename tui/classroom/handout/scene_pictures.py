"""Pictures of a lesson's scenes as SVG, each with the same in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.picture_words import poll_words, run_words
from sim.classroom.lessons.polls import PollSeen
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.runs import RunMoment
from sim.classroom.lessons.walk import Walk
from tui.chart.axis import CLOCK
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.partition_names import with_partition_names
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.chart.svg.picture import draw_svg
from tui.classroom.thumbnail import LiveThumbnail
from tui.look.palette import LOOKS
from tui.widgets.svg_screenshot import Type, draw_still

WIDTH, HEIGHT = 820, 360
"""Size of a picture in pixels."""
LOOK = LOOKS["light"]
_CELLS, _ROWS = Size(84, 16), 24
"""Size of an observed cluster's picture in cells, and rows of pixels for lanes of partitions."""


class ScenePicture(NamedTuple):
    policy: str
    """Policy of the run; "" of an observed cluster."""
    svg: str
    words: tuple[str, ...]
    window: tuple[float, float] = (0, 0)
    """(begin, end) of the times in the picture, in seconds; twice 0 of an observed cluster."""


def pictures(made: Performance, walk: Walk) -> Iterator[ScenePicture]:
    """Yield the picture of the scene or, where two runs are compared, one of each."""
    moment = walk.moment
    if isinstance(made, RecordedPerformance):
        yield _of_poll(PollSeen(made.polls, moment.step))
        return
    yield _of_run(made, walk, moment)
    if moment.beside is not None:
        yield _of_run(made, walk, made.runs.at_time(moment.beside, moment.clock))


def named(made: Performance, walk: Walk, told: str) -> str:
    """Return a text with the chart's names of partitions."""
    return told if isinstance(made, RecordedPerformance) else with_partition_names(told, made.runs.at(walk.moment))


def _of_run(made: Performance, walk: Walk, moment: RunMoment) -> ScenePicture:
    runs, staged, asked = made.runs, walk.staged, walk.open_question
    shown, workload = runs.at(moment), runs.workload_of(moment.branch)
    shown, past = shown if asked is None else shown.unplanned(), runs.timeline.history.as_of(runs.timeline.step)
    title = "a policy" if asked is not None and asked.kind == "policy" else runs.title(moment.branch)
    view = Camera.on(workload, WIDTH // 8, HEIGHT // 8).view(moment.clock)
    begin, end = staged.window or (max(view.start, 0.0), view.end)
    value = staged.question.value if asked is None and staged.question is not None else None
    marks = [Mark(value.number, "guess", "it is here")] if value is not None and value.unit == "moment" else []
    mode = staged.colour if staged.colour in MODES else "job"
    drawn = ChartMaker(workload).draw(
        past, shown, moment.clock, (begin, end), max(end - begin, 1) / WIDTH * 4, mode, marks, title, CLOCK, _ROWS
    )
    words = run_words(workload, shown, past, moment.clock, asked is not None)
    told = tuple(with_partition_names(each, shown) for each in words)
    return ScenePicture(title, draw_svg(drawn, LOOK, WIDTH, HEIGHT), told, (begin, end))


def _of_poll(seen: PollSeen) -> ScenePicture:
    chart = LiveThumbnail(seen.polls.pictures[: seen.place + 1]).chart(_CELLS.columns, 2 * _CELLS.rows)
    cells = sketch(chart, LOOK, _CELLS)
    rows = [Brush(LOOK).draw(cells, row, 0, _CELLS.columns) for row in range(_CELLS.rows)]
    svg = draw_still(rows, _CELLS.columns, LOOK, Type(8), "The cluster's nodes upwards, time to the right")
    return ScenePicture("", svg.replace("<svg", '<svg role="img"', 1), tuple(poll_words(seen)))
