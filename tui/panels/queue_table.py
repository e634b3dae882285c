"""The table that a queue is shown as: its rows, and the columns for which there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sim.snapshot import Queued, Snapshot
from sim.words import listed, name, span
from sim.workload.model import Job
from tui import text
from tui.panels.brief import brief
from tui.panels.parts import Context, mini_bar, spark, written
from tui.sheet import Line, Span, line

GAP = 2
BAR = 2
MOVED = 8
LEAST_WHY, MORE_WHY = 12, 5

# Rows


class Row(NamedTuple):
    """What the table says of one job."""

    job: Job
    waited: float
    xfactor: float
    starts: str
    moved: Span
    why: str


def waiting_row(context: Context, index: int) -> Row:
    """A job that waits, by its place in the queue."""
    queued = context.scene.snapshot.queue[index]
    starts = "" if queued.planned is None else _start(queued.planned, context, queued.reserved)
    return Row(queued.job, queued.waited, queued.xfactor, starts, _moved(queued, context), _why(queued, context))


def halted_row(context: Context, index: int) -> Row:
    """A suspended job: for how long, and who sits on its processors."""
    halted = context.scene.snapshot.suspended[index]
    jobs = context.about.workload.jobs
    why = "its processors are free"
    if halted.blocked_by:
        why = f"on its procs: {listed((name(jobs[rank]) for rank in halted.blocked_by), 2)}"
    return Row(halted.job, (context.scene.snapshot.time or 0) - halted.since, halted.xfactor, "", Span(""), why)


def _start(at: float, context: Context, reserved: bool) -> str:
    """A planned start; of another day without seconds, and with a ~ if it is made anew at each pass."""
    told = context.at(at)
    if told.startswith("d") and told.count(":") > 1:
        told = told.rpartition(":")[0]
    return told if reserved else f"~{told}"


def _moved(queued: Queued, context: Context) -> Span:
    """By how much the planned start moved in this step; of the selected job all its planned starts as a curve."""
    job = context.scene.job
    if job is not None and job.rank == queued.job.rank and len(job.planned) > 2:
        return Span(spark([plan.at for plan in job.planned], MOVED, context.unicode), "accent")
    if not queued.moved:
        return Span("")
    return Span(told_move(queued.moved, context.unicode), "cool" if queued.moved < 0 else "warm")


def told_move(moved: float, unicode: bool = True) -> str:
    """By how much something is planned earlier or later.

    >>> told_move(-3900), told_move(90, unicode=False)
    ('▲ 1h05', 'v 1m30')
    """
    signs = "▲▼" if unicode else "^v"
    return f"{signs[moved > 0]} {span(abs(moved))}"


def _why(queued: Queued, context: Context) -> str:
    if queued.why is not None:
        return brief(queued.why, queued.job, context.at)
    if queued.row is not None:
        return f"then in row {queued.row}"
    if queued.planned is None:
        return "not considered"
    free = context.scene.snapshot.free
    return f"{queued.job.procs:,} > {free:,} free" if queued.job.procs > free else "no hole before"


# The table


class Column(NamedTuple):
    title: str
    width: int
    cell: Callable[[Row], Span]


class Table(NamedTuple):
    """The columns for which there is room, and how wide the reason may be (0: not shown)."""

    context: Context
    columns: tuple[Column, ...]
    job: int
    """How wide the names of jobs are."""
    why: int

    @property
    def has_starts(self) -> bool:
        return any(column.title == "starts" for column in self.columns)

    def heading(self) -> Line:
        cells = [text.pad("", BAR + 1) + text.pad("job", self.job, "right")]
        cells += [text.pad(column.title, column.width, "right") for column in self.columns]
        return line(Span((" " * GAP).join(cells) + (f"{' ' * GAP}why" if self.why else ""), "dim"))

    def line(self, row: Row) -> Line:
        context, job = self.context, row.job
        bar = mini_bar(job.procs / context.scene.snapshot.procs, BAR, context.unicode)
        hue = context.scene.hues.get(job.rank)
        spans = [
            Span(bar, "dim" if hue is None else f"hue:{hue}"),
            Span(" " + text.pad(text.shorten(written(job.id, context), self.job), self.job, "right")),
        ]
        for column in self.columns:
            told, style, _ = column.cell(row)
            spans += [Span(" " * GAP), Span(text.pad(told, column.width, "right"), style)]
        if self.why:
            told = row.why if not row.starts or self.has_starts else f"from {row.starts}"
            why = written(told, context)
            spans.append(Span(" " * GAP + text.shorten(why, self.why), "dim"))
        return line(*spans, rank=job.rank)


def fitting(context: Context, width: int) -> Table:
    """As many columns as there is room for; those that matter least go first."""
    ids = context.about.workload.ids
    job = min(max(3, *(len(each) for each in ids[:1] + ids[-1:])), 12)
    columns = _columns(context)
    widths = {column.title: column.width for column in columns} | {"why": LEAST_WHY, "more": MORE_WHY - GAP}
    room, chosen = width - BAR - 1 - job, set[str]()
    for title in _by_weight(context.scene.snapshot):
        needs = GAP + widths[title]
        if needs > room:
            break
        chosen.add(title)
        room -= needs
    why = (LEAST_WHY + MORE_WHY * ("more" in chosen) + room) if "why" in chosen else 0
    return Table(context, tuple(column for column in columns if column.title in chosen), job, why)


def _columns(context: Context) -> tuple[Column, ...]:
    starts = max(8, len(f"~d{int(context.scene.clock // 86400)} 00:00"))
    return (
        Column("procs", 5, lambda row: Span(f"{row.job.procs:,}", "strong")),
        Column("estimate", 8, lambda row: Span(span(row.job.estimate))),
        Column("waited", 6, lambda row: Span(span(row.waited))),
        Column("xfactor", 7, lambda row: Span(f"{row.xfactor:,.2f}")),
        Column("starts", starts, lambda row: Span(row.starts or "–", "" if row.starts else "faint")),
        Column("moved", MOVED, lambda row: row.moved),
    )


def _by_weight(shown: Snapshot) -> list[str]:
    """The columns, those that matter most first; "more" is room for longer reasons.

    Where starts are planned for a few only, the reason's column says them if there is no room for one more.
    """
    rules = shown.rules
    if shown.suspended or (rules.suspends and rules.weighs_xfactors()):
        return ["procs", "xfactor", "why", "waited", "estimate", "more"]
    xfactor = ["xfactor"] if rules.weighs_xfactors() else []
    if rules.plans == "nobody":
        return ["procs", "waited", *xfactor, "why", "estimate", "more"]
    if rules.plans == "the heads":
        return ["procs", "waited", *xfactor, "why", "more", "estimate", "starts", "moved"]
    return ["procs", "waited", "starts", "estimate", *xfactor, "moved", "why", "more"]
