"""Panel with the code of the policy: the line that made a decision, with the values and conditions that led to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.code.lines import Focus
from sim.decisions.decisions import Keep
from sim.support.formatting import printable
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.context import Context, taught, written
from tui.panels.decision_icons import rank_of

TITLE = "Code"
NUMBER = 4
"""Width in columns of the number of a line."""
NARROW = 60
"""Width of the panel in columns below which the indentation of the code is halved"""
ROOM = 12
"""Smallest width in columns for values to the right of a code line; with less space they are put below it."""


def draw(context: Context, size: Size, first: int) -> Sheet:
    """Return the function that made the chosen decision, with values and conditions beside its lines."""
    scene = context.scene
    decision = _chosen(context)
    rank = context.selected
    if decision is not None:
        rank = rank_of(scene.snapshot.decisions[decision])
    focus = None if scene.code is None else scene.code.focus(decision, rank)
    if scene.code is None or focus is None:
        return taught(TITLE, context, size, *_empty_text(context))
    if not focus.function.lines:
        told = f"The source of {printable(focus.function.name)} in {printable(focus.function.file)} cannot be read."
        return taught(TITLE, context, size, told)
    lines: list[Line] = []
    mark = None
    for number, code in _shown_lines(focus):
        if number == focus.line:
            mark = len(lines)
        lines += _lines(number, code, focus, context, size[0])
    if mark is None:
        mark = len(lines) - 1
    head = [*_callers(focus, context, size[0])]
    if scene.code.is_cut:
        head.append(
            line(Span(text.shorten("This step runs too many lines: its end is not recorded.", size[0]), "warn"))
        )
    where = f"{Path(focus.function.file).name} · {focus.function.name}"
    note = written(where if focus.line is None else f"{where}, line {focus.line}", context)
    return Sheet(TITLE, tuple(head), tuple(lines), 0, len(lines), note, mark, is_followed=True)


def _chosen(context: Context) -> int | None:
    """Return the index of the decision to show: selected, of the selected job, not just waiting, or any; else None."""
    decisions = context.scene.snapshot.decisions
    if context.decision is not None:
        return context.decision if context.decision < len(decisions) else None
    if context.selected is not None:
        return next((at for at, each in enumerate(decisions) if rank_of(each) == context.selected), None)
    made = (at for at, each in enumerate(decisions) if rank_of(each) is not None and not isinstance(each, Keep))
    return next(made, 0 if decisions else None)


def _empty_text(context: Context) -> Iterator[str]:
    shown = context.scene.snapshot
    if context.selected is not None and shown.decisions:
        yield "The policy's code did not look at the selected job in this step."
    elif shown.time is not None:
        yield "No line of the policy's code made a decision in this step."
    else:
        yield "The policy's code appears here, with the line that made each decision and the values that it used."
    yield "Press . and , to walk through the decisions, → for the next step."


def _shown_lines(focus: Focus) -> Iterator[tuple[int, str]]:
    """Yield (number, line) for the lines of the function; only the first line of its docstring is included."""
    for number, code in enumerate(focus.function.lines, focus.function.first):
        if number not in focus.function.folded:
            yield number, code


def _callers(focus: Focus, context: Context, width: int) -> Iterator[Line]:
    for function, at in focus.callers:
        source = function.lines[at - function.first].strip() if at - function.first < len(function.lines) else ""
        yield line(Span(text.shorten(written(f"{at:>{NUMBER}} {source}", context), width), "dim"))


def _lines(number: int, code: str, focus: Focus, context: Context, width: int) -> Iterator[Line]:
    """Yield a line of code with its values and conditions: to the right of it if they fit, otherwise below it."""
    if width < NARROW:
        words = code.lstrip()
        code = " " * ((len(code) - len(words)) // 2) + words
    is_lit = number == focus.line
    sign = (written("▸", context) if context.unicode else ">") if is_lit else " "
    style = "strong" if is_lit else "dim" if code.lstrip().startswith(("#", '"""')) else ""
    front = [Span(f"{number:>{NUMBER}}", "dim"), Span(sign, "accent")]
    room = max(width - NUMBER - 1, 1)
    if is_lit and text.cells(code) > room:
        first, *rest = wrapped(code, room, indent=len(code) - len(code.lstrip()))
        yield line(*front, Span(first.text, style))
        yield from (line(" " * (NUMBER + 1), Span(each.text, style)) for each in rest)
        return
    source = text.shorten(written(code, context), room)
    told = [*_values_of_line(number, focus)]
    if not told:
        yield line(*front, Span(source, style))
        return
    beside = width - NUMBER - 1 - text.cells(source) - 2
    whole = "  ".join(each for each, _ in told)
    if beside >= max(ROOM, text.cells(whole)):
        spans = [Span(f"  {written(each, context)}", kind) for each, kind in told]
        yield line(*front, Span(source, style), *spans)
        return
    yield line(*front, Span(source, style))
    indent = NUMBER + 3 + len(code) - len(code.lstrip())
    if width - indent < ROOM:
        indent = NUMBER + 1
    for each, kind in told:
        yield from wrapped(written(each, context), width, kind, indent=indent)


def _values_of_line(number: int, focus: Focus) -> Iterable[tuple[str, str]]:
    if condition := focus.conditions.get(number):
        numbers = "" if condition.text in ("", "True", "False") else f"{condition.text}: "
        yield f"{numbers}{'yes' if condition.is_true else 'no'}", "good" if condition.is_true else "warn"
    if values := focus.values.get(number):
        yield ", ".join(f"{name} = {value}" for name, value in values), "cool"
