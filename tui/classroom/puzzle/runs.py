"""Charts of a puzzle under four policies, each with its mean wait."""

from __future__ import annotations

from dataclasses import dataclass

from sim.policies import parse_policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import span
from sim.workload.formats.puzzle import Puzzle
from sim.workload.source import Source
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.classroom.puzzle.board import ROUND
from tui.look.palette import Look
from tui.replay.navigation import Traveller
from tui.replay.opening import opening_of
from tui.replay.stage import RunView
from tui.replay.thumbnail import Thumbnail

POLICIES = ("fcfs", "firstfit", "easy", "conservative")
APART = 10


@dataclass(frozen=True)
class PolicyChart:
    policy: str
    mean_wait: float | None
    worst_wait: float | None
    worst: str
    end: float
    cells: Cells | None
    problem: str = ""


def charts(puzzle: Puzzle, look: Look, size: Size, policies: tuple[str, ...] = POLICIES) -> tuple[PolicyChart, ...]:
    """Return a chart of the jobs under each policy; all charts show the same span of time."""
    if not puzzle.jobs:
        return tuple(PolicyChart(policy, None, None, "", 0, None) for policy in policies)
    made: list[tuple[str, RunView | str]] = []
    for policy in policies:
        try:
            prepared = opening_of(Source(puzzle.line), parse_policy(policy)).prepare()
            prepared.timeline.compute_all()
            made.append((policy, RunView(prepared.timeline)))
        except SchedscopeError as error:
            made.append((policy, str(error)))
    ends = [_end(stage) for _, stage in made if not isinstance(stage, str)]
    end = max(ends, default=1.0)
    return tuple(
        PolicyChart(policy, None, None, "", 0, None, stage) if isinstance(stage, str) else
        _chart(policy, stage, end, look, size) for policy, stage in made
    )  # fmt: skip


def time_axis(end: float, columns: int) -> str:
    """Return the axis of time below a chart from 0 to `end`, as text: round times behind marks, and at the right end
    the sign that marks the end in the chart.

    >>> time_axis(2500, 36)
    '│0s          │15m00       │30m00'
    >>> time_axis(600, 36)
    '│0s        │3m00      │6m00    ┃ end'
    """
    step = next((step for step in ROUND if step * columns >= end * APART), None)
    axis, time = "", 0
    while step is not None and round(time / end * columns) + APART - 2 <= columns:
        axis += f"{'':{max(round(time / end * columns) - len(axis), 0)}}│{span(time)}"
        time += step
    ends = " ┃ end"
    return f"{axis:{columns - len(ends)}}{ends}" if len(axis) + len(ends) <= columns else axis


def _end(stage: RunView) -> float:
    return float(stage.timeline.branch.engine.schedule().end.max())


def _chart(policy: str, stage: RunView, end: float, look: Look, size: Size) -> PolicyChart:
    schedule = stage.timeline.branch.engine.schedule()
    waits = schedule.start - schedule.workload.submit
    worst = int(waits.argmax())
    Traveller(stage).seek_time(end, lambda: False)
    cells = None
    if size.columns > 0 and size.rows > 0:
        chart = Thumbnail(stage, (0.0, end)).chart(size.columns, size.rows * (1 if look.patterned else 2))
        cells = sketch(chart, look, size)
    return PolicyChart(
        policy, float(waits.mean()), float(waits[worst]), f"J{stage.workload.ids[worst]}", _end(stage), cells
    )
