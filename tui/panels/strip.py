"""Strip below the chart with the whole run: utilization and queue length, now, and marks such as bookmarks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from sim.policies.columns import Column
from sim.support.formatting import Clock, clock, count, percent, printable
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, area, joined, resampled
from tui.panels.numbers_so_far import one_line
from tui.replay.scene import StripScene

TITLE = "Whole run"
SO_FAR = "so far "
"""Beginning of the title's metrics, which are those of the present time, not of the whole run."""
LABEL, VALUE = 6, 7
"""Widths in columns of the label at the left of a curve, and of the value at its right."""
LEAST = 5
"""Smallest number of columns in which a shortened text (name of a mark or date) is still shown."""
SIGNS = {"switch": ("◆", "%"), "bookmark": ("⚑", "!"), "fork": ("┿", "Y"), "parted": ("≠", "/")}


def draw_strip(context: Context, size: Size, first: int = 0) -> Sheet:
    """Return the strip as a panel; one or two rows have metrics in the title."""
    lines = strip_lines(context, *size)
    if size[1] > 2:
        known = ", complete" if context.scene.complete else " computed so far"
        return Sheet(TITLE, tuple(lines), note=count(context.scene.known_steps, "step") + known)
    numbers = one_line(context, size[0] - len(TITLE) - len(SO_FAR) - 3).text
    return Sheet(TITLE, tuple(lines), note=f"{SO_FAR}{numbers}" if numbers else "")


class Whole(Protocol):
    """Scene of a run or of an observed cluster, as far as the strip needs it."""

    @property
    def strip(self) -> StripScene: ...

    @property
    def clock(self) -> float: ...

    @property
    def levels(self) -> tuple[float, int]:
        """Return (share of the processors in use, number of waiting jobs) at the present time."""

    @property
    def numbers(self) -> Sequence[tuple[Column, Sequence[tuple[float, float]]]]:
        """Return the (time, value) pairs of each number that the policy noted about the selected job or its user."""


class Seen(Protocol):
    @property
    def scene(self) -> Whole: ...

    @property
    def look(self) -> Look: ...

    @property
    def unicode(self) -> bool: ...


def strip_lines(context: Seen, width: int, rows: int = 4) -> list[Line]:
    """Return the strip as lines: curves of utilization, waiting jobs and policy's numbers; then marks and dates."""
    strip, (taken, waiting), columns = context.scene.strip, context.scene.levels, plot_columns(width)
    number = next(iter(context.scene.numbers), None) if rows > 3 else None
    height = max(rows - 2, 2 if number is None else 3)
    own = _policy_curve(context, *number, columns, height // 3) if number else []
    height -= len(own)
    busy = _curve(context, strip.utilization, 1, columns, (height + 1) // 2, "cool")
    most = max(filter(None, strip.waiting), default=0.0)
    queue = _curve(context, strip.waiting, most, columns, height // 2, "warm")
    signs = _signs(context, columns)
    if rows < 2:
        busy = [_overlaid(context, busy[0], signs)]
    elif rows < 3:
        queue = [_overlaid(context, queue[0], signs)]
    lines = [
        *_labelled("busy", busy, percent(taken, 0), "100 %"),
        *_labelled("queue", queue, _jobs(waiting), f"{most:,.0f}"),
        *own,
        line(" " * LABEL, *_placed_texts(signs + _names(context, columns), columns)),
        line(" " * LABEL, *_placed_texts(_dates(strip, columns, _exactly(context)), columns)),
    ]
    return lines[:rows]


def _jobs(many: int) -> str:
    told = count(many, "job")
    return told if len(told) < VALUE else f"{many:,}"


def told_at(context: Seen, size: Size, column: int, row: int) -> str:
    strip, columns = context.scene.strip, plot_columns(size[0])
    if not LABEL <= column < LABEL + columns:
        return ""
    place = (column - LABEL) * len(strip.utilization) // columns
    if place >= len(strip.utilization) or (used := strip.utilization[place]) is None:
        return f"about {_exactly(context)(time_at(strip, column, size[0]))}: not computed yet"
    waiting = strip.waiting[place] or 0.0
    told = (
        f"about {_exactly(context)(time_at(strip, column, size[0]))}: {percent(used, 0)} in use, {waiting:,.0f} waiting"
    )
    return f"{told}\na click goes there"


def _labelled(name: str, curve: Sequence[Sequence[Span]], value: str, most: str) -> Iterator[Line]:
    """Yield the lines of a curve with `name` and the present `value` on the lowest, and `most` on the highest."""
    for row, spans in enumerate(curve):
        if row == len(curve) - 1:
            yield line(Span(text.pad(name, LABEL), "dim"), *spans, Span(text.pad(value, VALUE, "right")))
        else:
            yield line(" " * LABEL, *spans, Span(text.pad("" if row else most, VALUE, "right"), "dim"))


# Columns and times


def plot_columns(width: int) -> int:
    return max(width - LABEL - VALUE, 1)


def time_at(strip: StripScene, column: int, width: int) -> float:
    """Return the time at a column of the strip, whose first or last time stands for columns outside."""
    columns = plot_columns(width)
    share = min(max((column - LABEL) / max(columns - 1, 1), 0.0), 1.0)
    return strip.begin + share * (strip.end - strip.begin)


def column_of(strip: StripScene, time: float, columns: int) -> int:
    length = strip.end - strip.begin
    share = (time - strip.begin) / length if length > 0 else 0.0
    return min(max(int(share * columns), 0), columns - 1)


# Curves


def _curve(
    context: Seen, values: Sequence[float | None], top: float, columns: int, rows: int, style: str, dotted: bool = True
) -> list[list[Span]]:
    """Return rows of a curve, dim after the present time; columns not yet computed (None) may be `dotted`."""
    now = column_of(context.scene.strip, context.scene.clock, columns)
    return _curve_until(now, tuple(values), top, (columns, rows), style, dotted, context.unicode)


@lru_cache(8)
def _curve_until(
    now: int, values: Sequence[float | None], top: float, size: Size, style: str, dotted: bool, unicode: bool
) -> list[list[Span]]:
    columns, rows = size
    shown = resampled(values, columns) or [None] * columns
    drawn = area([value or 0.0 for value in shown], top, rows, unicode)
    dot = " " if not dotted else "·" if unicode else "."
    return [
        joined(
            (dot if row == rows - 1 else " ", "faint") if value is None else (level, style if column <= now else "dim")
            for column, (level, value) in enumerate(zip(levels, shown, strict=True))
        )
        for row, levels in enumerate(drawn)
    ]


def _policy_curve(
    context: Seen, column: Column, values: Sequence[tuple[float, float]], columns: int, rows: int
) -> list[Line]:
    """Return the curve of a number that the policy noted, from (time, value); blank where it is unknown."""
    strip, times = context.scene.strip, [at for at, _ in values]
    low = min(0.0, min(value for _, value in values))
    most = max(value for _, value in values)
    width = (strip.end - strip.begin) / columns
    edges = [strip.begin + place * width for place in range(columns + 1)]
    places = (bisect_left(times, edge) - 1 for edge in edges[1:])
    shown = [
        values[at][1] - low if at >= 0 and edge <= times[-1] else None for edge, at in zip(edges, places, strict=False)
    ]
    now = next((value for at, value in reversed(values) if at <= context.scene.clock), None)
    name = printable(text.shorten(column.name, LABEL - 1))
    written = (_short_value(column, value) for value in (now, most))
    return list(_labelled(name, _curve(context, shown, most - low, columns, rows, "accent", dotted=False), *written))


def _short_value(column: Column, value: float | None) -> str:
    told = column.written(value)
    rounded = column.written(round(value)) if value is not None and text.cells(told) >= VALUE else told
    return text.shorten(rounded, VALUE - 1)


# Signs and words at their columns

Placed = tuple[int, str, str]
"""Text in a row of the strip: (first column, text, style)"""


def _signs(context: Seen, columns: int) -> list[Placed]:
    strip, unicode = context.scene.strip, context.unicode
    now = column_of(strip, context.scene.clock, columns)
    placed = [(now, "▲" if unicode else "^", "accent")]
    for mark in strip.marks:
        sign = SIGNS.get(mark.kind, ("•", "*"))[not unicode]
        placed.append((column_of(strip, mark.time, columns), sign, "strong"))
    return placed


def _names(context: Seen, columns: int) -> list[Placed]:
    strip = context.scene.strip
    now = column_of(strip, context.scene.clock, columns)
    placed = [(now - 4, "now ", "accent") if now >= 4 else (now + 1, " now", "accent")]
    for mark in strip.marks:
        told = printable(mark.text if context.unicode else text.plain(mark.text))
        placed.append((column_of(strip, mark.time, columns) + 1, f" {told}", "dim"))
    return placed


def _exactly(context: Seen) -> Clock:
    return clock if context.look.calendar is None else context.look.calendar.moment


def _dates(strip: StripScene, columns: int, exactly: Clock) -> list[Placed]:
    many = max(2, min(columns // 24 + 1, 7))
    days = strip.end - strip.begin > 3 * 86400 * many
    has_seconds = strip.end - strip.begin < 60 * (many - 1)
    if has_seconds:
        many = max(2, min(columns // 30 + 1, 7))  # longer labels, and the last one needs room, too
    placed: list[Placed] = []
    before = day = ""
    for part in range(many):
        time = strip.begin + part / (many - 1) * (strip.end - strip.begin)
        told = exactly(time).rpartition(" ")[0] if days else exactly(time)[: None if has_seconds else -3]
        if told == before:
            continue
        before = told
        had, (day, _, time_of_day) = day, told.rpartition(" ")
        told = time_of_day if " " in day and day == had else told
        column = round(part / (many - 1) * (columns - 1))
        left = 0 if not part else column - len(told) + 1 if part == many - 1 else column - len(told) // 2
        placed.append((left, told, "dim"))
    return placed


def _placed_texts(placed: Sequence[Placed], columns: int) -> list[Span]:
    cells = [(" ", "")] * columns
    for column, told, style in placed:
        wanted = cells[max(column, 0) : max(column, 0) + len(told)]
        room = next((place for place, (cell, _) in enumerate(wanted) if cell != " "), len(wanted))
        if room < len(told):
            told = text.shorten(told, room - 1) if room > LEAST else ""
        for offset, character in enumerate(told):
            cells[max(column, 0) + offset] = character, style
    return joined(cells)


def _overlaid(context: Seen, spans: Sequence[Span], placed: Sequence[Placed]) -> list[Span]:
    """Return a curve with `placed` over it; the present time only colours it, unless it is blank there."""
    cells = [(character, span.style) for span in spans for character in span.text]
    (now, sign, accent), *marks = placed
    for column, told, style in reversed(marks):
        cells[column] = told, style
    curve = cells[now][0]
    cells[now] = curve if context.look.colour and curve not in " ·" else sign, accent
    return joined(cells)
