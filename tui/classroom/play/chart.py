"""Chart of a game: processors over time, with what has run, and what runs until its estimate ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from rich.segment import Segment

from sim.classroom.play.game import Game
from sim.support.formatting import clock
from sim.timeline.timeline import Timeline
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.look import text
from tui.look.palette import Look
from tui.replay.navigation import Traveller
from tui.replay.stage import RunView
from tui.replay.thumbnail import Thumbnail


def chart(game: Game, look: Look, size: Size) -> list[list[Segment]]:
    """Return the rows of the chart with an axis below it; empty if there is no room."""
    gutter = len(f"{game.workload.procs}") + 1
    inner = Size(size.columns - gutter, size.rows - 1)
    if inner.rows < 2 or inner.columns < 20:
        return []
    begin, end = window_of(game)
    made = Thumbnail(stage_of(game), (begin, end)).chart(inner.columns, inner.rows * (1 if look.patterned else 2))
    cells, brush = sketch(made, look, inner), Brush(look)
    numbers = {0: f"{game.workload.procs}", inner.rows - 1: "0"}
    rows = [
        [
            Segment(f"{numbers.get(row, ''):>{gutter - 1}} ", look.style("dim")),
            *brush.draw(cells, row, 0, inner.columns),
        ]
        for row in range(inner.rows)
    ]
    labels = [(0, clock(begin)), (made.view.column_of(game.now), "now"), (inner.columns - len(clock(end)), clock(end))]
    return [*rows, [Segment(" " * gutter + _axis(labels, inner.columns), look.style("dim"))]]


def window_of(game: Game) -> tuple[float, float]:
    """Return the time that a chart of the game shows: from the first submission to expected ends, in seconds."""
    begin = float(game.workload.submit[0])
    left = sorted(game.expected_end(job) - game.now for job in game.running) or [60.0]
    return begin, game.now + min(max(left[len(left) // 2], 2 * (game.now - begin)), left[-1])


def stage_of(game: Game) -> RunView:
    """Return the run of the player's starts until now, as a recorded schedule; what waits starts later."""
    submit = game.workload.submit
    starts = [game.starts.get(rank, max(game.now + 1, at)) for rank, at in enumerate(submit.tolist())]
    workload = replace(game.workload, wait=np.array(starts) - submit)
    stage = RunView(Timeline(workload, "recorded"))
    Traveller(stage).seek_time(game.now, lambda: False)
    return stage


def _axis(labels: Sequence[tuple[int, str]], columns: int) -> str:
    """Return labels at their columns; one that would touch another before it is left out.

    >>> _axis([(0, "d0"), (1, "now"), (8, "d1")], 10)
    'd0      d1'
    """
    axis = ""
    for column, label in labels:
        if not axis or column > text.cells(axis):
            axis = text.pad(axis, column) + label
    return text.pad(axis[:columns], columns)
