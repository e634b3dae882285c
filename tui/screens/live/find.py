"""Search for a job, a user, a node or a rack on the screen of an observed cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from sim.errors import ParameterError, SchedscopeError
from sim.formatting import quoted
from tui.live.chart import rack_of
from tui.live.node_lines import node_lines
from tui.replay.places import find_job
from tui.screens import dialogs
from tui.screens.live.base import ClusterScreen
from tui.widgets.gantt import Gantt

HINT = "a job's number (17, 6_4), a user for the next job of theirs, a node (n3), or a rack (r08 of r08n12)"


def find(screen: ClusterScreen) -> None:
    parse = partial(_find_typed, screen)
    screen.open(dialogs.Prompt("Find", HINT, parse, answers=screen.answers), lambda go: go())


def _find_typed(screen: ClusterScreen, told: str) -> Callable[[], None]:
    context, name = screen.context, told.strip()
    if context is not None:
        nodes = [row.node for row in screen.watch_.observed.layout.rows]
        if name in nodes:
            return partial(_show_node, screen, name)
        if rack := [node for node in nodes if rack_of(node) == name]:
            return partial(_zoom_to, screen, rack)
    after = -1 if screen.state.selected is None else screen.state.selected
    try:
        return partial(screen.choose, find_job(told, screen.watch_.observed.workload, after))
    except SchedscopeError:
        raise ParameterError(f"there is no job, user, node or rack {quoted(name)} here") from None


def _show_node(screen: ClusterScreen, name: str) -> None:
    """Show the node and its jobs, with the chart around it if it was too small to see."""
    chart = screen.query_one("#chart", Gantt)
    rows = screen.watch_.observed.layout.rows
    place = next(at for at, row in enumerate(rows) if row.node == name)
    if chart.camera is not None and 2 * len(rows) > chart.camera.rows:
        around = max(chart.camera.rows // 8, 1)
        _zoom_to(screen, [row.node for row in rows[max(place - around, 0) : place + around + 1]])
    if (context := screen.context) is not None:
        screen.app.push_screen(dialogs.SentencesDialog(f"Node {name}", tuple(node_lines(context.scene.cluster, name))))


def _zoom_to(screen: ClusterScreen, nodes: list[str]) -> None:
    chart = screen.query_one("#chart", Gantt)
    rows = [row for row in screen.watch_.observed.layout.rows if row.node in set(nodes)]
    if chart.camera is not None and rows:
        low, high = min(row.low for row in rows), max(row.high for row in rows)
        chart.camera = replace(chart.camera, low=low, high=high, by_rows=False)
        screen.wish()
