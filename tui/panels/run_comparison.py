"""Panel that compares two runs: metrics with the better marked, first difference, most changed jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.comparison.comparison_sentences import changed, with_run
from sim.comparison.differences import ROWS, Change, Comparison, Ratio, versus
from sim.comparison.differences import Versus as Pair
from sim.metrics.catalogue import metric
from sim.support.formatting import count, name, percent, span
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, width_of
from tui.panels.context import Context, run_name, taught, worded, written
from tui.replay.scene import VersusScene

TITLE = "Compared"
LEVEL = ("mean_wait", "mean_bounded_slowdown", "max_wait", "max_bounded_slowdown")
SO_FAR = ("utilization", "backfilled", "preemptions", "migrations", "speculative_kills", "borrowed")
"""Metrics that are known at any time; each is shown only if one of the runs has a value other than 0."""
LABELS = {
    "mean_bounded_slowdown": "bounded slowdown",
    "max_bounded_slowdown": "worst slowdown",
    "missed_reservations": "missed starts",
    "speculative_kills": "runs cut short",
    "borrowed": "borrowed",
}
LABEL = 17
"""Width in columns of the labels, including at least one blank after them."""
CHANGE = 10
"""Width in columns of the column with the difference between the two values."""
TURN = Span("   "), Span("e", "key"), Span(" other run", "dim")
ENDS = Span("   "), Span("v", "key"), Span(" ends", "dim")
START = Span(", "), Span("V", "key"), Span(" then compares from the start", "dim")
NOTE = "C colours gain and loss"
SAME = "No start and no end of a job of both differs so far (d goes to the first difference)."
ALIKE = "Both runs are the same: every job of both starts and ends at the same time."
GAP = 2
"""Smallest number of blanks between a run's name in the heading and the column at its left"""
COLUMN = (10, 18)
"""Smallest and largest width in columns of the column of a run, including the mark of the better value."""


class ComparisonColumns(NamedTuple):
    """Widths of the labels and of the values of one run; `change` if the difference has space."""

    label: int
    column: int
    change: bool


# The panel


def draw(context: Context, size: Size, first: int) -> Sheet:
    """Return the panel: metrics up to now, metrics of the whole runs when both have ended, and the first difference."""
    scene, width = context.scene.versus, size[0]
    if scene is None:
        return taught(
            TITLE,
            context,
            size,
            "No comparison: v compares with another policy from here, V from the start.",
            "Both runs share one clock; their metrics and the jobs that gain and lose most appear here.",
        )
    grid = fitting(scene, width)
    if _is_told(context) and scene.comparison is not None and not scene.never:
        body = [*_in_the_end(context, scene, scene.comparison, grid, width), *_first_difference(context, scene, width)]
    else:
        so_far = _so_far(context, scene, grid, width)
        body = [*so_far, *_first_difference(context, scene, width), *_to_come(context, scene, width)]
    mark = next(
        (index for index, row in enumerate(body) if row.rank is not None and row.rank == context.selected), None
    )
    return Sheet(TITLE, _head(context, scene, grid, width), tuple(body), 0, len(body), NOTE, mark, of_both=True)


def fitting(scene: VersusScene, width: int) -> ComparisonColumns:
    """Return the widths; columns are as wide as the names of the runs if there is space."""
    least, most = COLUMN
    change = width >= LABEL + 2 * least + CHANGE + 4
    room = (width - LABEL - CHANGE * change) // 2
    column = max(least, min(max(map(text.cells, scene.names)) + 2 + GAP, most, room))
    return ComparisonColumns(max(width - 2 * column - CHANGE * change, 1), column, change)


def _head(context: Context, scene: VersusScene, grid: ComparisonColumns, width: int) -> tuple[Line, ...]:
    one, other = (run_name(context, number) for number in (False, True))
    led = [pair for pair in zip((one, other), scene.names, scene.led or scene.specs, strict=True) if pair[1] != pair[2]]
    rows: list[Line] = []
    for who, called, told in led:
        if len(led) == 1 and called in told:  # its name is not needed twice
            rows += worded(told, context, width, "dim")
        else:
            start, *more = worded(told, context, width, "dim", hang=text.cells(who.text) + 1)
            rows += [line(who, Span(" "), *start.spans), *more]
    if max(map(text.cells, (one.text, other.text))) >= grid.column:
        one, other = (who._replace(text=who.text.strip()) for who in (one, other))
    ends = grid.label + grid.column
    first = Span(" " * (ends - text.cells(one.text) - 1)), one, Span(" ")
    if text.cells(other.text) < grid.column:
        return *rows, line(*first, Span(" " * (grid.column - text.cells(other.text) - 1)), other)
    # one above the other, each at the end of its column
    return *rows, line(*first), line(Span(" " * (ends + grid.column - text.cells(other.text) - 1)), other)


# The numbers at this moment


def _so_far(context: Context, scene: VersusScene, grid: ComparisonColumns, width: int) -> Iterator[Line]:
    level, totals = scene.level, scene.totals
    yield from worded(scene.of_both, context, width, "dim") if scene.of_both else ()
    if level.jobs:
        few = "" if level.is_level else ", too few of all to judge by"
        yield from worded(f"Of the {count(level.jobs, 'job')} that ended in both{few}:", context, width, "dim")
        for key in LEVEL:
            yield _row(context, versus(metric(key), *getattr(level, key)), grid, judged=level.is_level)
    for key in SO_FAR:
        values = tuple(getattr(total, key) for total in totals)
        if any(values):
            yield _row(context, versus(metric(key), *values), grid, judged=level.is_level)
    for label, counts in (
        ("ended", [total.finished for total in totals]),
        ("under way", [total.started - total.finished for total in totals]),
        ("not started", scene.waiting),
    ):
        yield _row(context, versus(metric("jobs"), *counts), grid, label)
    yield from _shifts(context, scene, width)
    if scene.r is not None:
        worse = with_run(scene.names[scene.r < 0])
        told = f"bounded slowdown {1 + abs(scene.r):.2f} times as high {worse}" if scene.r else "equal slowdowns"
        yield from worded(f"R {scene.r:+.2f}: {told}", context, width, "dim")


def _shifts(context: Context, scene: VersusScene, width: int) -> Iterator[Line]:
    shifts = scene.shifts
    if shifts.earlier or shifts.later:
        first = f"{scene.names[1]}: {shifts.earlier:,} {'starts' if shifts.earlier == 1 else 'start'} earlier"
        brief = f"{first}, {shifts.later:,} later"
        told = f"{brief}, {shifts.same:,} at the same time"
        yield from worded(told if text.cells(told) <= width else brief, context, width, "dim")


# First difference


def _first_difference(context: Context, scene: VersusScene, width: int) -> Iterator[Line]:
    parting = scene.parting
    if parting is None or parting.time > context.scene.clock:
        yield line("")
        yield from worded(ALIKE if scene.never else SAME, context, width, "dim")
        return
    one, other = (f"{step:,}" for step in parting.steps)
    yield line("")
    heading = f"First difference at {context.exactly(parting.time)}"
    step = f"  step {one}" if one == other else f"  steps {one} and {other}"
    fits = text.cells(heading + step) <= width
    yield line(Span(heading, "strong"), Span(step if fits else "", "dim"))
    for number, sentences in enumerate(scene.told):
        who = run_name(context, bool(number))
        for own, told in zip(parting.ranks, sentences, strict=False):  # no sentences before the difference is reached
            rank = scene.rank(own, context.of_other)
            first, *rest = worded(told, context, width - text.cells(who.text) - 1, rank=rank)
            yield line(who, Span(" "), *first.spans, rank=rank)
            who = Span(" " * text.cells(who.text))  # each run is named once
            yield from (line(who, Span(" "), *more.spans, rank=rank) for more in rest)


def _is_told(context: Context) -> bool:
    """Return True if the run is over, so that final metrics reveal nothing of what comes next."""
    return context.scene.snapshot.next_time is None


# Results


def _to_come(context: Context, scene: VersusScene, width: int) -> Iterator[Line]:
    if not scene.never:
        yield line("")
        told = "Metrics of the whole runs and the jobs that gain and lose most appear here at the end (press end)."
        yield from worded(told, context, width, "dim")


def _in_the_end(
    context: Context, scene: VersusScene, found: Comparison, grid: ComparisonColumns, width: int
) -> Iterator[Line]:  # fmt: skip
    """Yield metrics, R by class, and the jobs that gained or lost most, of two runs that have ended."""
    yield line(Span("Whole runs", "strong"), Span(f"  {count(found.jobs, 'job')}", "dim"))
    yield from worded(scene.of_both, context, width, "dim") if scene.of_both else ()
    shown = {entry.metric.name: entry for entry in found.metrics}
    yield from (_row(context, shown[key], grid) for key in ROWS if shown[key].first or shown[key].second)
    yield from _shifts(context, scene, width)
    yield from _ratios(context, scene, found.slowdowns, width)
    yield from _gains_and_losses(context, found, scene, width)


def _ratios(context: Context, scene: VersusScene, ratios: Sequence[Ratio], width: int) -> Iterator[Line]:
    """Yield R, by how much the second run's mean slowdown is better, for all jobs and by class of estimates."""
    lines: list[list[Span]] = [[]]
    for ratio in ratios:
        if not ratio.jobs or ratio.r is None:
            continue
        piece = [Span(f"R {ratio.label} ", "dim"), Span(f"{ratio.r:+.2f}", _better(ratio.r))]
        apart = [Span("   ")] if lines[-1] else []
        if sum(text.cells(part.text) for part in (*lines[-1], *apart, *piece)) > width:
            lines.append(piece)
        else:
            lines[-1] += [*apart, *piece]
    if lines[0]:
        yield line("")
        yield from (line(*spans) for spans in lines)
        yield from worded(f"Above 0 the mean slowdown {with_run(scene.names[1])} is better.", context, width, "dim")


def _better(r: float) -> str:
    """Return the style for a value of R: "good" above 0, "bad" below 0, "" if it is rounded to 0.00."""
    return "" if abs(r) < 0.005 else "good" if r > 0 else "bad"


def _gains_and_losses(context: Context, found: Comparison, scene: VersusScene, width: int) -> Iterator[Line]:
    sides = (("gained", "earlier", "cool", found.gained), ("lost", "later", "warm", found.lost))
    rows = [["", way, "starts", "procs"] for _, way, _, _ in sides]
    rows += [_cells(context, change) for change in (*found.gained, *found.lost)]
    gained, lost, *table = _aligned(rows, width)
    for heading, (told, _, style, changes) in zip((gained, lost), sides, strict=True):
        if changes:
            yield line("")
            yield line(Span(f"Who {told} most {with_run(scene.names[1])}", "strong"))
            yield line(Span("".join(heading), "dim"))
        for change in changes:
            job, by, *rest = table.pop(0)
            yield line(job, Span(by, style), *rest, rank=scene.rank(change.job.rank, context.of_other))


def _cells(context: Context, change: Change) -> list[str]:
    first, second = (context.exactly(start).rpartition(":")[0] for start in change.starts)
    starts = written(f"{first} → {second}", context)
    return [written(name(change.job), context), span(abs(change.later)), starts, f"{change.job.procs:,}"]


def _aligned(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the cells padded to columns of one width; the last column is left out if it does not fit."""
    widths = [max(map(text.cells, column)) for column in zip(*rows, strict=True)]
    gap = next((gap for gap in (3, 2) if sum(widths) + gap * (len(widths) - 1) <= width), 1)
    fits = sum(widths) + gap * (len(widths) - 1) <= width
    return [
        [
            (" " * gap if index else "") + text.pad(cell, widths[index], "right" if index else "left")
            for index, cell in enumerate(row if fits else row[:-1])
        ]
        for row in rows
    ]


# A number of both


def _row(context: Context, entry: Pair, grid: ComparisonColumns, label: str = "", judged: bool = True) -> Line:
    """Return both values of a metric after `label` ("": its title); if `judged`, the better is marked."""
    label = label or LABELS.get(entry.metric.name, entry.metric.title)
    values = [_value(entry, value) for value in (entry.first, entry.second)]
    spans = [Span(text.pad(text.shorten(label, grid.label - 1), grid.label), "dim")]
    for side, value in enumerate(values):
        better = judged and entry.better == side and values[0] != values[1]
        mark = (" ●" if context.unicode else " *") if better else "  "
        spans.append(Span(text.pad(value + mark, grid.column, "right"), "good strong" if better else ""))
    if grid.change and values[0] != values[1]:
        spans.append(Span(text.pad(changed(entry), CHANGE, "right"), "dim"))
    return line(*spans)


def _value(entry: Pair, value: float | None) -> str:
    match entry.metric.unit:
        case "s":
            return span(value)
        case "share":
            return percent(value)
        case "factor" if value is not None:
            return text.number(value, 2 if value < 10 else 1 if value < 1000 else 0)
        case _:
            return text.number(value)


# The line between two charts


def between(context: Context, width: int) -> Line:
    """Return the line between the two charts: the first difference with both decisions, and the key that goes there."""
    scene = context.scene.versus
    if scene is None:
        return line("")
    if scene.parting is None or scene.parting.time > context.scene.clock:
        if scene.never:
            same = Span(text.shorten("no start and no end differs", width - 1), "dim")
            keys = (*ENDS, *START) if scene.led != scene.specs else ENDS
            return line(" ", same, *(keys if width_of((same, *keys)) < width else ()))
        parts = Span("   "), Span("d", "key"), Span(" to the first difference", "dim")
        return line(Span(" no start or end differs yet", "dim"), *parts, *TURN, *ENDS)
    is_there = context.scene.snapshot.step == scene.parting.steps[context.of_other]
    hint = () if is_there else (Span("   "), Span("d", "key"), Span(" goes there", "dim"))
    lines = [written(told, context) for told in scene.headline]
    told = next((told for told in lines if text.cells(told) < width), text.shorten(lines[-1], width - 1))
    ways = (*hint, *TURN, *ENDS), (*hint, *TURN), hint
    keys = next((keys for keys in ways if text.cells(told) + width_of(keys) < width), ())
    return line(" ", told, *keys)
