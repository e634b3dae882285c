"""Check the rows of the queue panel, cell by cell, at a step or between steps."""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import inf

from sim.decisions import decisions as d
from sim.decisions.reasons_inferred import FewBesideKept, NotConsidered, RowLater
from sim.decisions.reasons_to_wait import MachineGoesDown, PlannedLater, RoomUnseen, TooFewFree
from sim.decisions.sentences import why
from sim.support.formatting import clock_near
from tests.truth.lives import own_numbers
from tests.truth.panels import Sight
from tests.truth.rows import Rows
from tests.truth.stories import NUMBERS
from tests.truth.told import kept_of
from tests.truth.waits import most_free, why_now
from tests.truth.words import Tenths, demand, demand_equal, lasts, reads, whole
from tests.truth.world import Work
from tui.look.sheets import Line
from tui.panels import queue
from tui.panels.context import Context

SIZE = 500, 300
NUMBER = r"J?\d(?:[\d:.,]*\d)?"


class Frame:
    """The replay screen at the time `clock`, which may be between two steps."""

    def __init__(self, sight: Sight, clock: float) -> None:
        self.sight, self.after, self.clock = sight, sight.after, clock
        self.world, self.number = sight.after.world, sight.number
        self.at = clock_near(clock)

    @cached_property
    def context(self) -> Context:
        context = self.sight.context
        return replace(context, scene=replace(context.scene, clock=self.clock, job=None), selected=None)

    @cached_property
    def rows(self) -> Rows:
        rows: Rows = deepcopy(self.world.memo_rows)
        rows.elapse(self.clock, [inf] * len(self.world.jobs))
        return rows

    @property
    def is_last(self) -> bool:
        return self.number == len(self.sight.run.steps)

    @property
    def waiting(self) -> list[Work]:
        return sorted((self.world.jobs[rank] for rank in self.world.waiting), key=self.world.place)

    def is_promised(self, rank: int) -> bool:
        world = self.world
        if rank in world.granted:
            return True
        return rank in world.planned if world.rules.name == "multiqueue" else world.memo_rows is None


class Noted:
    """Sentence of the queue panel if no job waits."""


class Waiting:
    """A row of the table in the queue panel."""


def _cells(line: Line, titles: Sequence[re.Match[str]]) -> Iterator[str]:
    ends = [3, *(title.end() for title in titles[:-1]), None]
    for title, (begin, end) in zip(titles, pairwise(ends), strict=True):
        yield f"{title[0]}: {line.text[begin:end].strip()}"


def of_queue(frame: Frame) -> Iterator[tuple[type, str]]:
    sheet = queue.draw(frame.context, SIZE, 0)
    if not sheet.head:
        yield Noted, " ".join(line.text for line in sheet.body if line.text)
        return
    titles = [*re.finditer(r"\S+(?: \S+)*", sheet.head[0].text)]
    for line in sheet.body:
        if line.rank is not None:
            yield Waiting, " | ".join(_cells(line, titles))


def in_order(frame: Frame) -> list[str]:
    """Return the jobs in the order of the queue panel: suspended ones, then the waiting ones, by partition, that for
    the longest jobs first."""
    world, waiting = frame.world, frame.waiting
    if world.rules.name == "multiqueue":
        waiting = sorted(waiting, key=world.rules.class_of, reverse=True)
    return [job.name[1:] for job in [*(world.jobs[rank] for rank in sorted(world.aside)), *waiting]]


@reads(Noted, "No job waits: the run is over.")
def _(frame: Frame) -> None:
    demand(frame.is_last and nobody_waits(frame))


@reads(Noted, "No job waits. A job submitted now gets a row of the matrix.")
def _(frame: Frame) -> None:
    demand(frame.world.memo_rows is not None and nobody_waits(frame) and not frame.is_last)


@reads(Noted, "No job waits. A job submitted now starts at once if it fits: {n} of {n} processor(s) {any} free.")
def _(frame: Frame, free: int, of: int, verb: str) -> None:
    demand_equal((free, of), (frame.world.free_set().bit_count(), frame.world.size()))
    demand(free > 0 and frame.world.memo_rows is None and nobody_waits(frame) and not frame.is_last)


@reads(Noted, "No job waits. 0 of {n} processor(s) are free.")
def _(frame: Frame, of: int) -> None:
    demand_equal((0, of), (frame.world.free_set().bit_count(), frame.world.size()))
    demand(frame.world.memo_rows is None and nobody_waits(frame) and not frame.is_last)


def nobody_waits(frame: Frame) -> bool:
    return not frame.world.waiting and not frame.world.aside


@reads(Waiting, "{any}")
def _(frame: Frame, told: str) -> None:
    world = frame.world
    cells = {title: told for title, _, told in (cell.partition(": ") for cell in told.split(" | "))}
    job = world.by_name[f"J{cells['job']}"]
    held = world.aside.get(job.rank)
    demand_equal(whole(cells["procs"]), job.procs, "procs")
    demand(lasts(cells["estimate"]).is_about(job.estimate), "estimate")
    since = max(job.submit, job.reserve or 0) if held is None else job.submit + world.progress(job.rank)
    demand(lasts(cells["waited"]).is_about(max(0, frame.clock - since)), "waited")
    xfactor = (frame.clock - job.submit - world.progress(job.rank) + job.estimate) / job.estimate
    told, is_cut, _ = cells.get("xfactor", f"{xfactor:.2f}").partition("…")
    demand(Tenths(told).is_about(xfactor) or (is_cut and f"{xfactor:,.2f}".startswith(told)), f"xfactor {xfactor}")
    own = {} if held is not None else dict(own_numbers(world, job))
    for title in cells.keys() & NUMBERS.keys():
        demand(NUMBERS[title][1](cells[title]).is_about(own[title]) if title in own else cells[title] == "–", own)
    for title in cells.keys() & {"starts", "may start", "~may start"}:
        _starts(frame, job, title, cells[title])
        _moved(frame, job, cells["moved"])
    reason = cells["why"]
    if "moved" not in cells and job.rank in frame.after.planned and held is None:
        start = _written(frame, frame.after.planned[job.rank].at)
        demand(start in reason, f"from {start}")
        if parted := re.fullmatch(r"(.+), (from about |from |~)([^ ]+(?: [^ ]+)?)", reason):
            reason = parted[1]
            demand_equal((parted[2] == "from ", parted[3]), (frame.is_promised(job.rank), start), "promised start")
    (_why if held is None else _sits)(frame, job, reason)


def _starts(frame: Frame, job: Work, title: str, told: str) -> None:
    plans = frame.after.planned
    promised = {frame.is_promised(rank) for rank in plans}
    demand_equal(title, "may start" if promised == {False} else "~may start" if False in promised else "starts")
    true = "–"
    if job.rank in plans and job.rank in frame.world.waiting:
        unsure = title == "~may start" and not frame.is_promised(job.rank)
        true = "~" * unsure + _written(frame, plans[job.rank].at)
    demand_equal(told, true)


def _written(frame: Frame, at: float) -> str:
    """Return a time as the queue panel writes it: without seconds if it is on another day."""
    told = frame.at(at)
    return told[:-3] if told.startswith("d") and told.count(":") == 2 else told


def _moved(frame: Frame, job: Work, told: str) -> None:
    """Check by how much the planned start moved in this step. No move is shown after a switch or outage, or if
    processors are kept for a job, as all plans are new then."""
    was, now = frame.after.was.get(job.rank), frame.after.planned.get(job.rank)
    if not told:
        demand(not is_moved(frame, job), f"from {was}")
    else:
        moved = now.at - was if now and was else 0.0
        demand_equal(told[0], "▲" if moved < 0 else "▼")
        demand(lasts(told[2:]).is_about(abs(moved)), moved)


def is_moved(frame: Frame, job: Work) -> bool:
    was, now, world = frame.after.was.get(job.rank), frame.after.planned.get(job.rank), frame.world
    is_new = world.switched_now or any(isinstance(e, d.Gone | d.Returned | d.Await) for e in frame.sight.step.decisions)
    if was is None or now is None or is_new or job.rank in world.arrived:
        return False
    turn = world.rules["slice"] if world.memo_rows is not None else 1e-6
    return frame.is_promised(job.rank) and abs(now.at - was) >= turn


def _sits(frame: Frame, job: Work, told: str) -> None:
    world, mask = frame.world, frame.world.aside[job.rank].mask
    if world.memo_rows is None:
        there = [rank for rank, held in world.running.items() if held.mask & mask]
    else:
        on_turn, columns = world.memo_rows.on_turn, world.memo_rows.columns
        there = [rank for rank in (on_turn.home | on_turn.guests if on_turn else ()) if columns[rank] & mask]
    names = {world.jobs[rank].name for rank in there}
    said = {*re.findall(r"J\d+", told)}
    more = re.search(r"([\d,]+) more", told)
    demand(said <= names and len(said) + (whole(more[1]) if more else 0) == len(names), names)
    demand_equal(told == "its processors are free", not names)


def _why(frame: Frame, job: Work, told: str) -> None:
    """Check the short reason in a row: its numbers must follow each other in the full reason in the same order."""
    free, because = frame.world.free_set().bit_count(), kept_of(frame.after, job)
    if because is not None and not (job.procs > free and isinstance(because, TooFewFree)):
        told_of_it = why(because, frame.sight.run.workload.jobs[job.rank], frame.at)
        known = re.findall(NUMBER, f"1 {told_of_it}" if told_of_it.startswith("its own processor ") else told_of_it)
        said = re.findall(NUMBER, re.sub(r"and [\d,]+ more", "", told))
        demand(any(known[at : at + len(said)] == said for at in range(len(known) + 1)), told_of_it)
    else:
        demand_equal(told, _brief(frame, job, free))


def _brief(frame: Frame, job: Work, free: int) -> str:
    """Return the queue panel's short reason for a job for which the policy recorded none, found from the recomputed
    state."""
    world, planned = frame.world, frame.after.planned.get(job.rank)
    kind, blocker, _ = why_now(frame.after, job, most_free(world))
    if kind is RowLater:
        return f"then in row {world.memo_rows.planned[job.rank][0]}"
    if kind is MachineGoesDown:
        return f"machine down at {frame.at(world.closes())}"
    if kind is FewBesideKept:
        return f"{(world.kept() & world.free_set()).bit_count()} kept for {blocker}"
    if kind is NotConsidered:
        return "not considered"
    if kind is RoomUnseen or kind is PlannedLater:
        assert planned is not None
        return f"{'room, but planned for' if kind is RoomUnseen else 'no hole before'} {frame.at(planned.at)}"
    return f"{job.procs} > {free} free"
