"""Pictures of a lesson's scenes as SVG, each with the same in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.picture_words import poll_words, run_words
from sim.classroom.lessons.polls import PollSeen
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.runs import RunMoment
from sim.classroom.lessons.walk import Walk
from sim.live.cluster.observed import Observed
from sim.workload.formats.zone import zone_here
from tui.chart.axis import CLOCK
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.partition_names import with_partition_names
from tui.chart.scale import Camera
from tui.chart.scene import Mark
from tui.chart.svg.frame import inner_height
from tui.chart.svg.picture import draw_svg
from tui.live.chart import ChartMaker as LiveChartMaker
from tui.live.chart import first_camera
from tui.look.palette import LOOKS
from tui.widgets.svg_screenshot import Type, draw_still

WIDTH, HEIGHT = 820, 360
"""Size of a picture in pixels."""
LOOK = LOOKS["light"]
_CELLS = Size(84, 16)
_LETTERS = Type(8)
_BAR, _COLUMN = 7, 4


class ScenePicture(NamedTuple):
    title: str
    """Policy of the run; "" if there is one picture, or if the question is which policy it is."""
    svg: str
    words: tuple[str, ...]
    window: tuple[float, float] = (0, 0)
    """(begin, end) of the times in the picture, in seconds; twice 0 if no time can be chosen in it."""


def pictures(made: Performance, walk: Walk, with_svg: bool = True) -> Iterator[ScenePicture]:
    """Yield the picture of the scene or, where two runs are compared, one of each."""
    if isinstance(made, RecordedPerformance):
        yield _of_poll(PollSeen(made.polls, walk.moment.step), with_svg)
        return
    asked = walk.open_question
    guess = asked is None and walk.staged.question
    value = guess.value if guess else None
    marks = () if value is None or value.unit != "moment" else (Mark(value.number, "guess", "it is here"),)
    branches = [walk.moment.branch, *([walk.moment.beside] if walk.moment.beside else [])]
    for branch in branches:
        moment = walk.moment
        if branch != moment.branch:
            moment = made.runs.at_time(branch, moment.clock)
        yield _of_run(made, walk, moment, marks, "" if asked is None else asked.kind, with_svg)


def named(made: Performance, walk: Walk, told: str) -> str:
    """Return a text with the chart's names of partitions."""
    return told if isinstance(made, RecordedPerformance) else with_partition_names(told, made.runs.at(walk.moment))


def typed_question(asked: Question) -> str:
    """Return the text of a question for readers who have no picture to click."""
    return asked.asks.replace("Click the place, or type", "Type").replace(", or click the place", "")


def _of_run(
    made: Performance, walk: Walk, moment: RunMoment, marks: Sequence[Mark], veil: str, with_svg: bool
) -> ScenePicture:
    runs = made.runs
    shown = runs.at(moment).unplanned() if veil else runs.at(moment)
    workload, past = runs.workload_of(moment.branch), runs.timeline.history.as_of(runs.timeline.step)
    title = "a policy" if veil == "policy" else runs.title(moment.branch)
    words = run_words(workload, shown, past, moment.clock, bool(veil))
    told = tuple(with_partition_names(each, shown) for each in words)
    if not with_svg:
        return ScenePicture(title, "", told)
    view = Camera.on(workload, WIDTH // 8, HEIGHT // 8).view(moment.clock)
    begin, end = walk.staged.window or (max(view.start, 0.0), view.end)
    column = max(end - begin, 1) / WIDTH * _COLUMN
    mode = walk.staged.colour if walk.staged.colour in MODES else "job"
    rows = max(inner_height(HEIGHT) // _BAR, 1)
    drawn = ChartMaker(workload).draw(
        past, shown, moment.clock, (begin, end), column, mode, marks, title, CLOCK, rows
    )  # fmt: skip
    return ScenePicture(title, draw_svg(drawn, LOOK, WIDTH, HEIGHT), told, (begin, end))


def _of_poll(seen: PollSeen, with_svg: bool) -> ScenePicture:
    told = tuple(poll_words(seen))
    if not with_svg:
        return ScenePicture("", "", told)
    observed = Observed(zone_here())
    for cluster in seen.polls.pictures[: seen.place + 1]:
        observed.add(cluster)
    clock = observed.moments[-1]
    camera = first_camera(observed, clock, _CELLS.columns, 2 * _CELLS.rows)
    chart = LiveChartMaker().make(observed, seen.cluster, clock, camera)
    cells, brush = sketch(chart, LOOK, _CELLS), Brush(LOOK)
    rows = [brush.draw(cells, row, 0, _CELLS.columns) for row in range(_CELLS.rows)]
    svg = draw_still(rows, _CELLS.columns, LOOK, _LETTERS, "The cluster's nodes upwards, time to the right")
    return ScenePicture("", svg.replace("<svg", '<svg role="img"', 1), told)
