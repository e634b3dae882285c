"""Panels at the side of the chart, each with all that the screen knows of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from tui.look.sheets import Sheet, Size
from tui.panels import code, decisions, details, matches, matrix_panel, partitions, policy_output, queue
from tui.panels.context import Context, Draw, Tell
from tui.replay.scene import Scene


class Chosen(Protocol):
    """Choices of the user on which a panel's content may depend (see `ViewState`)."""

    @property
    def selected(self) -> int | None: ...

    @property
    def over(self) -> str | None: ...

    @property
    def matching(self) -> object: ...

    @property
    def hidden(self) -> frozenset[str]: ...


class SidePanel(NamedTuple):
    """Panel at the side: `keys` toggle it, `word` is in the line of keys, `shows` in the help."""

    draw: Draw
    keys: str
    word: str
    shows: str
    weight: int
    turn: int
    """Position in the order in which panels get space if there is too little for all; 0 is the first."""
    has_content: Callable[[Chosen, Scene | None], object] = lambda state, scene: True
    tell: Tell | None = None
    """Function that returns the tooltip for a place in the panel that belongs to no job."""
    short: str = ""


def _draw_versus(context: Context, size: Size, first: int) -> Sheet:
    """Return the panel with the comparison of runs. Its module is imported only here, because it loads all metrics."""
    from tui.panels import run_comparison

    return run_comparison.draw(context, size, first)


SIDE: dict[str, SidePanel] = {
    "versus": SidePanel(
        _draw_versus, "G", "compared", "the comparison of two runs", 12, 0,
        lambda state, scene: scene and scene.versus is not None, short="both",
    ),
    "matches": SidePanel(
        matches.draw, "asterisk", "matches", "every step that meets a condition (/)", 5, 1,
        lambda state, scene: state.matching is not None,
    ),
    "matrix": SidePanel(
        matrix_panel.draw_matrix, "4,m", "matrix", "the Ousterhout matrix", 4, 2,
        lambda state, scene: scene and scene.snapshot.matrix is not None,
    ),
    "queue": SidePanel(queue.draw, "1", "queue", "the queue", 4, 3),
    "decisions": SidePanel(decisions.draw, "2", "decisions", "the decisions", 3, 5, short="decide"),
    "partitions": SidePanel(
        partitions.draw_partitions, "5", "partitions", "the partitions", 3, 8,
        lambda state, scene: scene and scene.snapshot.owners, partitions.told_at, "parts",
    ),
    "details": SidePanel(
        details.draw, "3", "job", "the details of the selected job", 4, 7,
        lambda state, scene: state.selected is not None or state.over == "details",
    ),
    "prints": SidePanel(
        policy_output.draw, "9", "prints", "the output of your policy", 3, 6,
        lambda state, scene: scene and scene.printed,
    ),
    "code": SidePanel(
        code.draw, "8", "code", "the policy's code, with the line that made each decision", 5, 4,
        lambda state, scene: state.over == "code" or "code" not in state.hidden,
    ),
}  # fmt: skip
