"""Waiting jobs in one or two lines, for when the panel of the queue is hidden: sentences name such jobs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sim.decisions.decisions import Suspend
from sim.engine.snapshot import Queued
from sim.support.formatting import name, span
from sim.workload.model import Job
from tui.look import text
from tui.look.sheets import Line, Span, line, width_of
from tui.panels.context import Context, written
from tui.panels.live_values import by_clock
from tui.panels.queue_table import QueueRow, halted_row, time_without_progress, waiting_row, why_and_start

MOST = 200
"""Largest number of waiting jobs of which all may be shown; of more, the first 20 per line are considered."""
GAP = Span("  ")
_BREVITIES = 5
"""Number of forms of a job, from form 0 (with estimate, reason and planned start) to 4 (estimate only)."""
_SHORTEST_WHY = 3
"""Form in which jobs are shown if there is too little space for all of them."""


def waiting_lines(context: Context, told: str, width: int, rows: int) -> list[Line]:
    """Return the waiting jobs in at most `rows` lines, in the longest form in which all fit; first those in `told`."""
    queue = context.scene.snapshot.queue
    if not queue:
        return [_suspended_line(context, width)]
    front = [waiting_row(context, index) for index in range(min(len(queue), MOST if len(queue) <= MOST else rows * 20))]
    words = set(re.findall(r"\w+", told))
    head = [Span(f" {len(queue):,} wait{'s' * (len(queue) == 1)}", "strong", "toggle_panel('queue')")]
    for brevity in range(_BREVITIES):
        if found := _flowed(head, [_entry(context, row, brevity) for row in front], len(queue), width, rows):
            return found
    named = [row for row in front if name(row.job) in words]
    chosen: list[QueueRow] = []
    for row in (*named, *front):
        if row in chosen:
            continue
        several = sorted((*chosen, row), key=front.index)
        if not _flowed(head, [_entry(context, each, _SHORTEST_WHY) for each in several], len(queue), width, rows):
            break
        chosen = several
    flowed = _flowed(head, [_entry(context, row, _SHORTEST_WHY) for row in chosen], len(queue), width, rows)
    return flowed if chosen and flowed else [line(*head)]


def _suspended_line(context: Context, width: int) -> Line:
    halted = context.scene.snapshot.suspended
    if not halted:
        return line(Span(" nothing waits", "dim"))
    if len(halted) == 1 and (sums := _both_sums(context)) and width_of(sums) <= width:
        return line(*sums)
    spans = [Span(f" {len(halted):,} suspended", "strong", "toggle_panel('queue')")]
    for index, one in enumerate(halted):
        row = halted_row(context, index)
        told, asked = f"xfactor {row.xfactor:,.2f}", span(one.job.estimate)
        made_up = f"{told} = ({span(row.waited)} waited + {asked} estimate) / {asked}"
        ways = (
            [GAP, _clickable_name(context, one.job), Span(f" {one.job.procs:,}p {way}", "dim")]
            for way in ([] if index else [made_up]) + [told]
        )
        fitting = next((entry for entry in ways if width_of((*spans, *entry)) <= width), None)
        if fitting is None:
            break
        spans += fitting
    return line(*spans)


def _both_sums(context: Context) -> list[Span]:
    """Return two xfactors' sums: of a job suspended in this step, and of the job that it made way for; else empty."""
    shown = context.scene.snapshot
    halted, running = by_clock(shown.suspended[0], context.scene), {each.job.rank: each for each in shown.running}
    suspend = next((each for each in shown.decisions if isinstance(each, Suspend)), None)
    by = getattr(suspend.because, "by", None) if suspend is not None else None
    if by is None or by.rank not in running:
        return []
    spans = [Span(" xfactor: ", "dim", "toggle_panel('queue')")]
    for entry in (halted, by_clock(running[by.rank], context.scene)):
        if isinstance(entry, Queued):
            return []
        waited, asked = span(time_without_progress(entry)), span(entry.job.estimate)
        words = (" waited", " estimate") if entry is halted else ("", "")
        spans += [
            _clickable_name(context, entry.job),
            Span(f" ({waited}{words[0]} + {asked}{words[1]}) / {asked}", "dim"),
            Span(", ", "dim"),
        ]
    return spans[:-1]


def _clickable_name(context: Context, job: Job) -> Span:
    hue = context.scene.hues.get(job.rank)
    style = f"name:{hue} strong" if hue is not None else "strong"
    return Span.of_job(written(name(job), context), style, job.rank)


def _entry(context: Context, row: QueueRow, brevity: int) -> list[Span]:
    job, hue = row.job, context.scene.hues.get(row.job.rank)
    style = "accent" if job.rank == context.selected else f"name:{hue}" if hue is not None else ""
    whole = why_and_start(row, "from ")[0]
    estimate, reason = ((True, whole), (False, whole), (True, row.why[0]), (False, row.why[-1]), (True, ""))[brevity]
    asked = f" {job.procs:,}p" + f" {span(job.estimate)}" * estimate + f" {reason}" * bool(reason)
    named = Span.of_job(written(name(job), context), f"{style} strong", job.rank)
    return [named, Span(written(asked, context), "dim")]


def _flowed(
    head: Sequence[Span], entries: Sequence[Sequence[Span]], many: int, width: int, rows: int
) -> list[Line] | None:
    rest = [[GAP, Span(f"+{many - len(entries):,}", "dim", "toggle_panel('queue')")]] if many > len(entries) else []
    lines = [list(head)]
    for entry in [*([GAP, *entry] for entry in entries), *rest]:
        if width_of((*lines[-1], *entry)) > width:
            lines.append([Span(" " * text.cells(head[0].text))])
        lines[-1] += entry
    fits = len(lines) <= rows and all(width_of(spans) <= width for spans in lines)
    return [line(*spans) for spans in lines] if fits else None
