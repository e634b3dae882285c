"""Panel with what the policy printed in each step, for its author."""

from __future__ import annotations

from collections.abc import Iterator

from sim.support.formatting import count
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.context import Context, taught, written

TITLE = "Prints"


def draw(context: Context, size: Size, first: int) -> Sheet:
    """Return the lines printed in the last steps; the present step's are highlighted at the bottom."""
    printed = context.scene.printed
    if not printed:
        return taught(TITLE, context, size, "Output of the policy appears here, step by step.")
    lines = [part for step, told in printed for part in _lines(context, step, told, size[0])]
    many = len(context.scene.snapshot.printed)
    note = f"{count(many, 'line')} in this step" if many else "none in this step"
    return Sheet(TITLE, (), tuple(lines), 0, len(lines), note, len(lines) - 1)


def _lines(context: Context, step: int, told: tuple[str, ...], width: int) -> Iterator[Line]:
    style = "strong" if step == context.scene.snapshot.step else "dim"
    yield line(Span(f"step {step:,}", "accent" if style == "strong" else "dim"))
    for each in told:
        yield from wrapped(written(each, context) or " ", width, style, indent=2)
