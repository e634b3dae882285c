"""Pictures of a lesson's scenes and of a game as SVG, in the size of a phone."""

from __future__ import annotations

from functools import cache

from sim.classroom.lessons.performance import Staged
from sim.timeline.timeline import Timeline
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.lanes import turn_at
from tui.chart.scale import Camera
from tui.chart.svg.drawing import ROW, draw_matrix
from tui.chart.svg.frame import inner_height
from tui.chart.svg.picture import FONTS, draw_svg
from tui.classroom.guide import veil_over
from tui.look.palette import LOOKS
from tui.look.text import shorten
from tui.replay.requests import Veil
from tui.replay.stage import RunView

WIDTH, HEIGHT = 400, 330
"""Size of a picture in pixels: the width of a phone, where its letters have their own size."""


class ScenePictures:
    """Pictures of the scenes of one lesson; each is drawn once."""

    def __init__(self, timeline: Timeline) -> None:
        self._stage = RunView(timeline)
        self.of = cache(self._of)

    def _of(self, staged: Staged, is_answered: bool) -> tuple[str, ...]:
        """Return the pictures of a scene (run, second run, matrix), before or after the answer to its question."""
        asked, stage, timeline = staged.question, self._stage, self._stage.timeline
        moment = asked.seen if asked is not None and is_answered else staged.moment
        stage.clock = moment.clock
        drawn: tuple[str, ...] = ()
        for branch in filter(None, (moment.branch, moment.beside)):
            timeline.look_at(branch)
            timeline.seek(moment.step) if branch == moment.branch else timeline.seek_time(moment.clock)
            view = Camera.on(stage.workload, WIDTH, HEIGHT).view(stage.clock)
            window = staged.window or (view.first * view.per_column, (view.first + view.columns) * view.per_column)
            veil = veil_over(None if is_answered else asked)
            drawn += picture(stage, window, veil, staged.colour, "matrix" in staged.panels)
        return drawn


def picture(
    stage: RunView, window: tuple[float, float], veil: Veil = "", colour: str = "job", has_matrix: bool = False,
    title: str = "",
) -> tuple[str, ...]:  # fmt: skip
    """Return the chart of a run from a time to another (`window`, in seconds), and its matrix if that is wanted."""
    timeline, snapshot, look = stage.timeline, stage.veiled(veil), LOOKS["dark"]
    drawing = ChartMaker(stage.workload).draw(
        timeline.history.as_of(timeline.step), snapshot, stage.clock, window, max(window[1] - window[0], 1) / WIDTH,
        colour if colour in MODES else "job", title=title or shorten(snapshot.policy, 22),
        rows=max(inner_height(HEIGHT) // ROW, 1),
    )  # fmt: skip
    drawn = [draw_svg(drawing, look, WIDTH, HEIGHT)]
    if has_matrix and snapshot.matrix is not None and snapshot.matrix.rows:
        on_turn = turn_at(snapshot, stage.clock).row
        drawn.append(draw_matrix(snapshot.matrix, on_turn, drawing, look, WIDTH, HEIGHT, FONTS))
    return tuple(drawn)
