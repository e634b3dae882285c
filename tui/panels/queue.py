"""Panel with the queue: first the suspended jobs, then a table of the waiting jobs of each queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.support.formatting import listed, name, processors, span
from tui.chart.partition_names import partition_limits, partition_names
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.context import Context, taught, window, written
from tui.panels.live_values import by_clock
from tui.panels.queue_table import QueueRow, fitting, halted_row, sorted_places, time_without_progress, waiting_row

TITLE = "Queue"


def draw(context: Context, size: Size, first: int) -> Sheet:
    """Return the queue from line `first` on; with a selected decision, as it was before that decision."""
    if context.decision is not None and context.scene.then is not None:
        context = replace(context, scene=replace(context.scene, snapshot=context.scene.then))
    shown = context.scene.snapshot
    if not shown.queue and not shown.suspended:
        return taught(TITLE, context, size, *_nobody_waits(shown), note="0 waiting")
    sections = _sections(context, size[0])
    total = sum(section.lines for section in sections)
    seen = window(total, first, size[1] - 1)
    entries = [_entry_at(sections, index) for index in seen]
    table = fitting(context, size[0], [entry for entry in entries if isinstance(entry, QueueRow)])
    body = tuple(table.line(entry) if isinstance(entry, QueueRow) else entry for entry in entries)
    if (told := _xfactor(context, size[0])) and total + 1 + len(told) < size[1]:
        body, total = (*body, line(""), *told), total + 1 + len(told)
    mark = _mark(context, sections)
    note = _note(shown, size[0]) if context.decision is None else f"before decision {context.decision + 1:,}"
    return Sheet(TITLE, (table.heading(),), body, seen.start, total, note, mark)


def _xfactor(context: Context, width: int) -> tuple[Line, ...]:
    """Return the definition of the xfactor; empty unless jobs are suspended, or may be by their xfactors."""
    shown = context.scene.snapshot
    if not shown.suspended and not (shown.rules.suspends and shown.rules.weighs_xfactors()):
        return ()
    told = wrapped("xfactor = (wait + estimate) / estimate: it grows while a job waits or is suspended", width, "dim")
    return *told, *(line(Span(written(each, context), "dim")) for each in _examples(context))


def _examples(context: Context) -> Iterator[str]:
    scene = context.scene
    for halted in scene.snapshot.suspended[:1]:
        running = (each for each in scene.snapshot.running if each.job.rank in halted.blocked_by[:1])
        entries: tuple[Suspended | Running, ...] = (halted, *running)
        for entry in entries:
            there = by_clock(entry, scene)
            if isinstance(there, Queued):
                continue
            asked = span(there.job.estimate)
            told = f"({span(time_without_progress(there))} + {asked}) / {asked} = {there.xfactor:,.2f}"
            yield f"{name(there.job)}  {told}"


def _note(shown: Snapshot, width: int) -> str:
    """Return how many jobs wait, are suspended and want; the last parts are left out until it fits."""
    parts = [f"{len(shown.queue):,} waiting"]
    if shown.suspended:
        parts.append(f"{len(shown.suspended):,} suspended")
    if shown.queue:
        parts.append(f"{shown.wanted:,} procs wanted")
    while len(parts) > 1 and len(" · ".join(parts)) > width - len(TITLE) - 3:
        parts.pop()
    return " · ".join(parts)


def _nobody_waits(shown: Snapshot) -> tuple[str, ...]:
    if shown.time is None:
        return (
            "No job waits yet.",
            "Jobs that cannot start at once appear here in the policy's order, with the reason.",
        )
    if shown.next_time is None:
        return ("No job waits: the run is over.",)
    if shown.matrix is not None:
        return ("No job waits.", "A job submitted now gets a row of the matrix.")
    free = f"{shown.free:,} of {processors(shown.there)} {'is' if shown.free == 1 else 'are'} free"
    return ("No job waits.", f"{'A job submitted now starts at once if it fits: ' if shown.free else ''}{free}.")


# Sections: runs of lines that can be made one by one


class Section(NamedTuple):
    """Part of the list: heading lines, and indices of jobs in the queue or among the suspended ones."""

    heading: tuple[Line, ...]
    places: Sequence[int]
    row: Callable[[int], QueueRow]
    state: str = "waiting"

    @property
    def lines(self) -> int:
        return len(self.heading) + len(self.places)


def _sections(context: Context, width: int) -> list[Section]:
    shown = context.scene.snapshot
    waiting, halted = partial(waiting_row, context), partial(halted_row, context)
    sections: list[Section] = []
    if shown.suspended:
        heading = _heading("Suspended", f"{len(shown.suspended):,}, waited includes suspension")
        sections.append(Section((heading,), range(len(shown.suspended)), halted, "suspended"))
    if len(shown.queues) > 1:
        queues = list(enumerate(_by_queue(shown)))  # partitions from the top, as their lanes
        for place, places in queues[::-1] if shown.owners or partition_limits(shown)[0] else queues:
            heading_of = _queue_heading(context, place, len(places), width)
            sections.append(Section(heading_of, sorted_places(context, places), waiting))
    elif shown.queue:
        headed = (_heading("Waiting", f"{len(shown.queue):,}"),) if sections else ()
        sections.append(Section(headed, sorted_places(context, range(len(shown.queue))), waiting))
    return [sections[0], *(section._replace(heading=(line(""), *section.heading)) for section in sections[1:])]


def _heading(title: str, note: str) -> Line:
    return line(Span(title, "strong"), Span(f"  {note}", "dim"))


def _by_queue(shown: Snapshot) -> list[list[int]]:
    places: list[list[int]] = [[] for _ in shown.queues]
    for index, queued in enumerate(shown.queue):
        places[queued.place].append(index)
    return places


def _queue_heading(context: Context, place: int, waiting: int, width: int) -> tuple[Line, ...]:
    """Return the queue's name and number of waiting jobs, and a bar of its partition without lanes in the chart."""
    shown = context.scene.snapshot
    named = f"{partition_names(shown)[place]} {partition_limits(shown)[place]}".rstrip()
    heading = _heading(written(named, context), f"{waiting:,} waiting")
    if not shown.owners or context.scene.has_lanes:
        return (heading,)
    size = shown.owners[place].bit_count()
    ways = (f"has {processors(size)}", True), (f"has {processors(size)}", False), (f"has {size:,}", False)
    said = [written(", ".join([has, *_loans(shown, place, to_whom)]), context) for has, to_whom in ways]
    fitting = (told for told in said if text.cells(told) <= width)
    return heading, line(Span(text.shorten(next(fitting, said[-1]), width), "dim"))


def _loans(shown: Snapshot, place: int, to_whom: bool) -> Iterator[str]:
    names = partition_names(shown)
    others = [other for other in range(len(shown.queues)) if other != place]
    borrowed = {other: shown.owners[place] & shown.division[other] for other in others}
    lent = {other: shown.owners[other] & shown.division[place] for other in others}
    for kind, way, loans in (("borrowed", "from", borrowed), ("lent", "to", lent)):
        told = [f"{there.bit_count():,} {way} {names[other]}" for other, there in loans.items() if there]
        if told:
            in_all = sum(there.bit_count() for there in loans.values())
            yield f"{kind}: {listed(told)}" if to_whom else f"{in_all:,} {kind}"


def _mark(context: Context, sections: Sequence[Section]) -> int | None:
    job = context.scene.job
    if job is None or job.rank != context.selected:
        return None
    place = context.scene.snapshot.queue.place_of(job.rank) if job.state == "waiting" else None
    if job.state == "suspended":
        place = next((i for i, s in enumerate(context.scene.snapshot.suspended) if s.job.rank == job.rank), None)
    above = 0
    for section in sections:
        if section.state == job.state and place is not None and place in section.places:
            return above + len(section.heading) + section.places.index(place)
        above += section.lines
    return None


def _entry_at(sections: Sequence[Section], index: int) -> Line | QueueRow:
    for section in sections:
        if index < section.lines:
            inside = index - len(section.heading)
            return section.heading[index] if inside < 0 else section.row(section.places[inside])
        index -= section.lines
    raise IndexError(index)
