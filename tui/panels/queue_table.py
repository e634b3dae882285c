"""Table of the queue: its rows, and a choice of the columns that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import NamedTuple

from sim.decisions.reasons_to_wait import TooFewFree
from sim.decisions.sentences import Unit, brief
from sim.decisions.wording import Brief
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.policies.columns import Column as OwnColumn
from sim.support.formatting import listed, name, span
from sim.why.evidence import considered_in
from sim.why.wait_reasons import why_it_waits
from sim.workload.model import Job
from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.panels.context import Context, QueueOrder, mini_bar, spark, written
from tui.panels.live_values import suspended_by_clock, waiting_by_clock

GAP = 2
BAR = 2
MOVED = 8
LEAST_WHY, MORE_WHY = 12, 5
LEAST_OWN, MOST_OWN = 7, 12
"""Smallest and largest width in columns of the screen of a table column with the policy's own numbers."""
MOST_PLAIN = 1e6
"""Absolute value from which on a number is shown with three significant digits only."""

OWN = "own "
STARTS = PROMISED, ANEW, MIXED = "starts", "may start", "~may start"
"""Headings of the planned starts: all of them promised, none, or some."""

# Rows


class QueueRow(NamedTuple):
    """Row of the queue's table: the values of one job."""

    job: Job
    waited: float
    xfactor: float
    starts: str
    promised: bool
    """False if each pass of the policy may change the planned start."""
    moved: Span
    why: Brief
    own: tuple[float | None, ...] = ()
    """Numbers of the policy's own columns; None where one is missing."""


def waiting_row(context: Context, index: int) -> QueueRow:
    queued = waiting_by_clock(context.scene.snapshot.queue[index], context.scene)
    starts = "" if queued.planned is None else _start(queued.planned, context)
    moved, why = _moved_text(queued, context), _reason_text(queued, context)
    return QueueRow(queued.job, queued.waited, queued.xfactor, starts, queued.reserved, moved, why, queued.own)


def halted_row(context: Context, index: int) -> QueueRow:
    """Return the row of a suspended job: its total time without progress, and the jobs on its processors."""
    scene = context.scene
    halted = suspended_by_clock(scene.snapshot.suspended[index], scene)
    jobs = [context.about.workload.jobs[rank] for rank in halted.blocked_by]
    by, waited = _sitters_text(jobs), time_without_progress(halted)
    return QueueRow(halted.job, waited, halted.xfactor, "", promised=False, moved=Span(""), why=by)


def time_without_progress(entry: Suspended | Running) -> float:
    """Return the seconds that a job has waited or been suspended; the xfactor counts all as wait."""
    return (entry.xfactor - 1) * entry.job.estimate


def _sitters_text(jobs: Sequence[Job]) -> Brief:
    if not jobs:
        return "its processors are free", "free"
    first = name(jobs[0])
    if len(jobs) == 1:
        return f"{first} has its processors", f"{first} runs there", first
    return listed(map(name, jobs), 2), f"{first} and {len(jobs) - 1} more", f"{first} + {len(jobs) - 1}"


def _start(at: float, context: Context) -> str:
    told = context.at(at)
    return told.rpartition(":")[0] if told.startswith("d") and told.count(":") > 1 else told


def _moved_text(queued: Queued, context: Context) -> Span:
    job = context.scene.job
    if job is not None and job.rank == queued.job.rank and len(job.planned) > 2:
        return Span(spark([plan.at for plan in job.planned], MOVED, context.unicode), "accent")
    if not queued.moved:
        return Span("")
    return Span(told_move(queued.moved, context.unicode), "cool" if queued.moved < 0 else "warm")


def told_move(moved: float, unicode: bool = True) -> str:
    signs = "▲▼" if unicode else "^v"
    return f"{signs[moved > 0]} {span(abs(moved))}"


def _reason_text(queued: Queued, context: Context) -> Brief:
    shown = context.scene.snapshot
    if context.scene.is_veiled:
        return ("?",)
    because = why_it_waits(shown, queued, considered_in(shown))
    if isinstance(because, TooFewFree) and queued.job.procs > shown.free:
        because = TooFewFree(shown.free)  # as it is after the pass, like the numbers next to it
    return brief(because, queued.job, context.at)


def sorted_places(context: Context, places: Sequence[int]) -> Sequence[int]:
    """Return the jobs' indices in the order that the user has chosen, by default the policy's."""
    order, queue = context.order, context.scene.snapshot.queue
    if order is None:
        return places
    of_job = _OF_JOB.get(order.column)

    def key(place: int) -> float:
        if of_job is not None:
            return of_job(queue.jobs[place])
        queued = queue[place]
        own = order.column.removeprefix(OWN)
        value = queued.own[int(own)] if own.isdecimal() and int(own) < len(queued.own) else None
        value = {"xfactor": queued.xfactor, "starts": queued.planned, "moved": queued.moved}.get(order.column, value)
        return inf * (-1 if order.descends else 1) if value is None else value

    return sorted(places, key=key, reverse=order.descends)


_OF_JOB: dict[str, Callable[[Job], float]] = {
    "job": lambda job: job.rank,
    "procs": lambda job: job.procs,
    "estimate": lambda job: job.estimate,
    "waited": lambda job: -job.submit,
}

# The table


class Column(NamedTuple):
    title: str
    width: int
    cell: Callable[[QueueRow], Span]
    key: str = ""
    """Key of a column that the policy wrote, which begins with `OWN`; "" for other columns."""

    @property
    def weighed(self) -> str:
        return self.key or ("starts" if self.title in STARTS else self.title)


class Table(NamedTuple):
    """Columns of the table that fit; `why` is 0 if the reason is not shown."""

    context: Context
    columns: tuple[Column, ...]
    job: int
    why: int

    def heading(self) -> Line:
        """Return the headings; clicks on one sort by it, then reverse the order, then restore the policy's."""
        spans = [self._head("job", "job", BAR + 1 + self.job)]
        spans += [self._head(column.title, column.weighed, GAP + column.width) for column in self.columns]
        return line(*spans, Span(f"{' ' * GAP}why" if self.why else "", "dim"))

    def _head(self, title: str, key: str, width: int) -> Span:
        return sortable_heading(title, key, width, self.context.order, self.context.unicode)

    def _sign(self, job: Job) -> Span:
        decisions, at = self.context.scene.decisions, self.context.decision
        if at is None or at >= len(decisions) or getattr(decisions[at], "job", None) != job:
            return Span(" ")
        return Span("▸" if self.context.unicode else ">", "accent")

    def line(self, row: QueueRow) -> Line:
        context, job = self.context, row.job
        bar = mini_bar(job.procs / context.scene.snapshot.procs, BAR, context.unicode)
        hue = context.scene.hues.get(job.rank)
        spans = [
            Span(bar, "dim" if hue is None else f"hue:{hue}"),
            self._sign(job),
            Span(text.pad(text.shorten(written(job.id, context), self.job), self.job, "right")),
        ]
        for column in self.columns:
            cell = column.cell(row)
            told = text.pad(text.shorten(cell.text, column.width), column.width, "right")
            spans += [Span(" " * GAP), Span(told, cell.style)]
        if self.why:
            about = ("from ",) if row.promised else ("from about ", "~")
            has_starts = any(column.title in STARTS for column in self.columns)
            said = row.why if has_starts else why_and_start(row, *about)
            spans.append(Span(" " * GAP + _fitting([written(told, context) for told in said], self.why), "dim"))
        return line(*spans, rank=job.rank)


def sortable_heading(
    title: str, key: str, width: int, order: QueueOrder | None, unicode: bool, align: text.Align = "right"
) -> Span:
    """Return the heading of a column, on which a click sorts; a sign in it shows that the rows are sorted by it."""
    if order is None or order.column != key:
        return Span(text.pad(title, width, align), "dim", f"sort_queue({key!r})")
    sign = ("▼" if order.descends else "▲") if unicode else ("v" if order.descends else "^")
    return Span(text.pad(f"{sign}{title}", width, align), "accent", f"sort_queue({key!r})")


def why_and_start(row: QueueRow, *before: str) -> Brief:
    """Return texts on why a job waits and, after a word of `before`, its planned start; the preferred first."""
    if not row.starts or any(row.starts in told for told in row.why):
        return row.why
    whole = [f"{told}, {word}{row.starts}" for told in row.why for word in before]
    return (*whole, *row.why)


def _fitting(said: Sequence[str], width: int) -> str:
    return next((told for told in said if text.cells(told) <= width), text.shorten(said[-1], width))


def fitting(context: Context, width: int, rows: Sequence[QueueRow]) -> Table:
    """Return the table with the most important columns that fit; `rows` are the rows that are visible."""
    ids = context.about.workload.ids
    job = min(max(3, *(len(each) for each in (*ids[:1], *ids[-1:]))), 12)
    columns = _columns(context, _starts_title(rows))
    widths = {column.weighed: column.width for column in columns} | {"why": LEAST_WHY, "more": MORE_WHY - GAP}
    room, chosen = width - BAR - 1 - job, set[str]()
    for title in _by_weight(context):
        needs = GAP + widths[title]
        if needs > room:
            break
        chosen.add(title)
        room -= needs
    why = (LEAST_WHY + MORE_WHY * ("more" in chosen) + room) if "why" in chosen else 0
    return Table(context, tuple(column for column in columns if column.weighed in chosen), job, why)


def _columns(context: Context, title: str) -> tuple[Column, ...]:
    procs = max(len("procs"), len(f"{context.scene.snapshot.procs:,}"))
    starts = max(len(title), 8, len(f"~d{int(context.scene.clock // 86400)} 00:00"))

    def start(row: QueueRow) -> Span:
        unsure = row.starts and title == MIXED and not row.promised
        return Span("~" * bool(unsure) + (row.starts or "–"), "" if row.starts else "faint")

    return (
        Column("procs", procs, lambda row: Span(f"{row.job.procs:,}", "strong")),
        Column("estimate", 8, lambda row: Span(span(row.job.estimate))),
        Column("waited", 6, lambda row: Span(span(row.waited))),
        Column("xfactor", 7, lambda row: Span(f"{row.xfactor:,.2f}")),
        Column(title, starts, start),
        Column("moved", MOVED, lambda row: row.moved),
        *(_own_column(context, place, own) for place, own in enumerate(context.scene.snapshot.columns)),
    )


def _own_column(context: Context, place: int, own: OwnColumn) -> Column:
    title = written(text.shorten(own.name, MOST_OWN), context)

    def cell(row: QueueRow) -> Span:
        value = row.own[place] if place < len(row.own) else None
        return Span("–", "faint") if value is None else Span(own_number(own, value, context), "accent")

    least = LEAST_OWN + (own.unit is Unit.MOMENT)
    return Column(title, max(text.cells(title), least), cell, _own_key(place))


def _own_key(place: int) -> str:
    return f"{OWN}{place}"


def own_number(own: OwnColumn, value: float, context: Context) -> str:
    if not isfinite(value):
        return str(value)
    if own.unit is Unit.MOMENT:
        return _start(value, context)
    if own.unit is Unit.SPAN:
        return span(value)
    digits = 2 if abs(value) < 1000 else 1 if abs(value) < 10000 else 0
    return text.number(round(value, digits), digits) if abs(value) < MOST_PLAIN else f"{value:.3g}"


def _starts_title(rows: Sequence[QueueRow]) -> str:
    promised = {row.promised for row in rows if row.starts}
    if promised == {False}:
        return ANEW
    return MIXED if False in promised else PROMISED


def _by_weight(context: Context) -> list[str]:
    """Return the names of columns, the most important first; "more" is more space for the reason."""
    shown = context.scene.snapshot
    first, *others = _ours_by_weight(shown)
    if context.scene.is_veiled:
        others = ["estimate", *(name for name in others if name != "estimate")]
    return [first, *map(_own_key, range(len(shown.columns))), *others]


def _ours_by_weight(shown: Snapshot) -> list[str]:
    """Return the names of our columns, the most important first; without planned starts the reason counts more."""
    rules = shown.rules
    if shown.suspended or (rules.suspends and rules.weighs_xfactors()):
        return ["procs", "xfactor", "why", "waited", "estimate", "more"]
    xfactor = ["xfactor"] if rules.weighs_xfactors() else []
    if rules.plans == "nobody":
        return ["procs", "waited", *xfactor, "why", "estimate", "more"]
    if rules.plans == "the heads":
        return ["procs", "waited", *xfactor, "why", "more", "estimate", "starts", "moved"]
    return ["procs", "waited", "starts", "estimate", *xfactor, "moved", "why", "more"]
