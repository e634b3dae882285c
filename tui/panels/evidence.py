"""Why a job waits, beyond a sentence: the numbers that made the difference, and who was considered beside it."""

from __future__ import annotations

from collections.abc import Iterator

from sim.decisions import Backfill, Decision, Reason, Resume, Start, Suspend
from sim.matrix_decisions import Place
from sim.sentences import say
from sim.snapshot import Queued
from sim.words import listed, name, span, spelled
from sim.workload.model import Job
from tui import text
from tui.panels.parts import Context, worded, written
from tui.panels.signs import rank_of, sign
from tui.panels.standing import waiting_entry
from tui.scene import JobScene
from tui.sheet import Line, Span, line

TIMES = {"shadow", "ends", "closes", "start", "later", "bound", "at", "reserved", "recorded", "was", "wanted"}
SPANS = {"limit", "slice", "span", "late", "margin"}
WORDS = {
    "ends": "would end", "shadow": "its start", "closes": "window closes", "extra": "extra procs", "bound": "its bound",
    "free": "free now", "head": "head of queue", "at": "planned for", "busy": "own procs taken",
}  # fmt: skip
"""What the fields of reasons are called, where their names alone do not say it."""
MOST_HOLDERS = 4
MOST_CONSIDERED = 12


# The numbers


def numbers(context: Context, job: JobScene, width: int) -> list[Line]:
    """What the waiting job needs, what there is, and the fields of the reason why it was kept."""
    queued = waiting_entry(context.scene.snapshot, job)
    if queued is None:
        return []
    rows = list(_numbers(context, queued))
    margin = max(text.cells(label) for label, _ in rows) + 2
    lines: list[Line] = []
    for label, value in rows:
        first, *rest = worded(value, context, width, hang=margin)
        lines += [line(Span(text.pad(label, margin), "dim"), *first.spans), *rest]
    return lines


def _numbers(context: Context, queued: Queued) -> Iterator[tuple[str, str]]:
    shown = context.scene.snapshot
    yield "needs", f"{queued.job.procs:,} for {span(queued.job.estimate)}"
    told = dict(_fields(queued.why, context)) if queued.why is not None else {}
    if "free now" not in told:
        yield "free now", f"{shown.free:,}"
    yield from told.items()
    if queued.planned is not None and "planned for" not in told:
        kind = "" if queued.reserved else " (made anew at each pass)"
        yield "planned for", f"{context.at(queued.planned)}{kind}"
    if queued.moved:
        way = "earlier" if queued.moved < 0 else "later"
        yield "moved", f"{span(abs(queued.moved))} {way} in this step"
    if shown.matrix is None and queued.job.procs > shown.free:
        yield "next to end", _holders(context, queued.job)
    yield "xfactor", f"{queued.xfactor:,.2f}"


def _fields(reason: Reason, context: Context) -> Iterator[tuple[str, str]]:
    """A reason's fields as a person reads them."""
    for key, value in reason._asdict().items():
        label = WORDS.get(key, spelled(key))
        if isinstance(value, Job):
            yield label, name(value)
        elif isinstance(value, int | float):
            yield label, context.at(value) if key in TIMES else span(value) if key in SPANS else text.number(value)


def _holders(context: Context, job: Job) -> str:
    """Who will free the processors that it lacks, in the order of their expected ends."""
    lacking, holders = job.procs - context.scene.snapshot.free, []
    for running in context.scene.snapshot.running:
        if lacking <= 0:
            break
        holders.append(f"{name(running.job)} ({running.job.procs:,}, by {context.at(running.expected_end)})")
        lacking -= running.job.procs
    return listed(holders, MOST_HOLDERS)


# Who was considered beside it


def considered(context: Context, job: JobScene, width: int) -> list[Line]:
    """What was decided in this step that touched the waiting job: who went ahead of it, and who was held back by it."""
    queued = waiting_entry(context.scene.snapshot, job)
    if queued is None:
        return []
    touching = [decision for decision in context.scene.snapshot.decisions if _touches(decision, queued.job)]
    lines: list[Line] = []
    for decision in touching[:MOST_CONSIDERED]:
        first, *rest = worded(say(decision, context.at), context, width, hang=2, rank=rank_of(decision))
        lines += [line(sign(decision, context.unicode), Span(" "), *first.spans, rank=first.rank), *rest]
    if len(touching) > MOST_CONSIDERED:
        lines.append(line(Span(written(f"… {len(touching) - MOST_CONSIDERED:,} more", context), "dim")))
    return lines


def _touches(decision: Decision, job: Job) -> bool:
    """Did the decision let another job go ahead, or does its reason name this one?"""
    if rank_of(decision) in (job.rank, None):
        return False
    if isinstance(decision, Start | Backfill | Resume | Suspend | Place):
        return True
    reason = getattr(decision, "because", None)
    return reason is not None and any(isinstance(field, Job) and field.rank == job.rank for field in reason)
