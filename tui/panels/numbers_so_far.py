"""Panel with metrics of the run up to now: in one line, as a block, or with small plots, depending on the space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.support.formatting import count, percent, span
from tui.chart.lanes import busy_at
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, area, resampled, taught
from tui.replay.scene import Series

TITLE = "Numbers so far"
CELL, GAP = 22, 2
"""Width in columns of a metric, and of the gap between two metrics."""
LEAST_PLOT = 30


class Figure(NamedTuple):
    """Metric as text; `brief` is a shorter text for a line with several metrics."""

    name: str
    value: str
    brief: str
    details: tuple[str, ...] = ()
    """Notes on how many jobs the metric covers, the longest first; the first one that fits is shown."""


def draw_metrics(context: Context, size: Size, first: int = 0) -> Sheet:
    if context.scene.snapshot.time is None:
        told = "Utilization, waits and slowdowns of the finished jobs appear here."
        return taught(TITLE, context, size, told)
    width, rows = size
    told_figures = list(figures(context))
    beside = width - CELL - 2 * GAP
    if beside >= LEAST_PLOT and rows >= max(len(told_figures), 6):
        grid = _grid(told_figures, CELL, 1, rows)
        plots = _plots(context, beside, rows)
        lines = [_joined(left, right) for left, right in zip(_filled(grid, rows), _filled(plots, rows), strict=True)]
    else:
        columns = max((width + GAP) // (CELL + GAP), 1)
        lines = _grid(told_figures, (width + GAP) // columns - GAP, columns, rows)
        if rows - len(lines) >= 4:
            lines += [line(""), *_plots(context, width, rows - len(lines) - 1)]
    return Sheet(TITLE, tuple(lines), note=_note(context))


def one_line(context: Context, width: int) -> Line:
    told: list[Span] = []
    for figure in figures(context) if context.scene.snapshot.time is not None else ():
        brief = figure.brief if not told else f" · {figure.brief}"
        if sum(text.cells(part.text) for part in told) + text.cells(brief) > width:
            break
        told.append(Span(brief))
    return line(*told)


def _note(context: Context) -> str:
    finished, jobs = context.scene.snapshot.totals.finished, len(context.about.workload)
    return f"{finished:,} of {jobs:,} ended" if context.scene.versus else f"{finished:,} of {count(jobs, 'job')} ended"


# Metrics


def figures(context: Context) -> Iterator[Figure]:
    """Yield the metrics of the jobs that have ended and of the machine, the most important metric first."""
    totals, can = context.scene.snapshot.totals, context.scene.snapshot.rules
    used = percent(totals.utilization)
    yield Figure("utilization", used, f"{used} used")
    if context.scene.chart is not None and (unused := context.scene.chart.unused):
        free, *causes = unused
        told = f"{sum(causes):,} of {free:,} free of no use"
        yield Figure("free, of no use", f"{sum(causes):,}", told, (f"of {free:,} free", f"of {free:,}"))
    ended = f"{totals.finished:,} ended: wait"
    yield _of_ended(context, "mean wait", span(totals.mean_wait), ended)
    yield _of_ended(context, "bounded slowdown", _three_digits(totals.mean_bounded_slowdown), "slowdown")
    yield _of_ended(context, "worst wait", span(totals.max_wait))
    if queue := context.scene.snapshot.queue:
        longest = span(max(job.waited(context.scene.clock) for job in queue.jobs))
        yield Figure("longest in queue", longest, f"longest in queue {longest}")
    if totals.backfilled or can.lets_pass:
        yield _count("backfilled", totals.backfilled, _out_of(totals.started, "started"))
    if totals.preemptions or (can.suspends and can.turns() is None):
        yield _count("preemptions", totals.preemptions)
    if totals.interruptions or context.scene.snapshot.outages:
        yield _count("interruptions", totals.interruptions)
    if totals.migrations or can.most_migrated() is not None:
        yield _count("migrations", totals.migrations)
    if totals.borrowed or can.queues():
        yield _count("borrowed", totals.borrowed, ("procs in all", "in all"))
    if totals.speculative_kills or can.tries():
        yield _count("runs cut short", totals.speculative_kills)
    if context.about.workload.killed.any():
        yield _count("killed", totals.killed, _out_of(totals.finished, "ended"))
    yield _of_ended(context, "worst slowdown", _three_digits(totals.max_bounded_slowdown))


def _of_ended(context: Context, name: str, value: str, brief: str = "") -> Figure:
    """Return a metric of ended jobs, a dash before the first has ended; `brief` is a shorter name, "" for none."""
    value = value if context.scene.snapshot.totals.finished else "–"
    return Figure(name, value, f"{brief or name} {value}")


def _count(name: str, many: int, details: tuple[str, ...] = ()) -> Figure:
    return Figure(name, f"{many:,}", f"{many:,} {name}", details)


def _out_of(whole: int, verb: str) -> tuple[str, ...]:
    return f"of {whole:,} {verb}", f"of {whole:,}"


def _three_digits(value: float) -> str:
    """Return a value as text with three digits, or with more if its whole number has more."""
    return text.number(value, 2 if value < 10 else 1 if value < 1000 else 0)


# Figures in columns


def _grid(told: Sequence[Figure], cell: int, columns: int, rows: int) -> list[Line]:
    told = told[: rows * columns]
    height = -(-len(told) // columns)
    lines = []
    for row in range(height):
        spans: list[Span] = []
        for figure in told[row::height]:
            spans += ([Span(" " * GAP)] if spans else []) + _cell(figure, cell)
        lines.append(line(*spans))
    return lines


def _cell(figure: Figure, width: int) -> list[Span]:
    name = text.shorten(figure.name, width - text.cells(figure.value) - 1)
    room = width - text.cells(name) - text.cells(figure.value)
    detail = next((f" {told}" for told in figure.details if len(told) + 1 < room), "")
    blanks = " " * (room - len(detail))
    return [Span(name, "dim"), Span(blanks), Span(figure.value, "strong"), Span(detail, "dim")]


def _filled(lines: Sequence[Line], rows: int) -> list[Line]:
    return [*lines, *[line("")] * rows][:rows]


def _joined(left: Line, right: Line) -> Line:
    blanks = CELL - text.cells(left.text) + 2 * GAP
    return line(*left.spans, Span(" " * blanks), *right.spans)


# Plots


def _plots(context: Context, width: int, rows: int) -> list[Line]:
    series: Series = context.scene.series
    shown = context.scene.snapshot
    used = percent(busy_at(shown, context.scene.clock) / shown.there if shown.there else 0, 0)
    drawn = (
        ("used", series.utilization, 1.0, used, "100 %", "cool"),
        ("waiting", series.waiting, max(series.waiting, default=0.0), f"{len(shown.queue):,}", "", "warm"),
        ("wanted", series.wanted, max(series.wanted, default=0.0), f"{shown.wanted:,}", "", "dim"),
    )
    height = min(max(rows // len(drawn), 1), 10)
    lines: list[Line] = []
    for name, values, top, now, most, style in drawn:
        if len(lines) + height <= rows and values:
            lines += _plot(context, name, values, top, (now, most or f"{top:,.0f}"), (width, height), style)
    return lines


def _plot(
    context: Context, name: str, values: Sequence[float], top: float, scale: tuple[str, str], size: Size, style: str
) -> Iterator[Line]:
    label, side = 8, max(7, *(len(told) + 1 for told in scale))
    width, rows = size
    shown = resampled(values, max(width - label - side, 1))
    for row, levels in enumerate(area(shown, top, rows, context.unicode)):
        if row == rows - 1:
            yield line(Span(text.pad(name, label), "dim"), Span(levels, style), Span(text.pad(scale[0], side, "right")))
        else:
            most = text.pad("" if row or not top else scale[1], side, "right")
            yield line(" " * label, Span(levels, style), Span(most, "dim"))
