"""Check the numbers that Why shows next to its sentences against the recomputed state after a step."""

import re
from typing import Any

from sim.decisions.sentences import Detail, why
from sim.engine.snapshot import Suspended
from sim.why import facts as f
from sim.why.evidence import Evidence
from tests.truth.queues import in_turn, pivots_of
from tests.truth.told import (
    After,
    anew,
    are_enough,
    finish,
    has_run,
    have_passed,
    heads,
    is_planned,
    line_of,
    sitters_are,
    taken_at_home,
)
from tests.truth.words import Lasts, Names, Tenths, demand, demand_equal, demanded, exactly, reads, whole
from tests.truth.world import Slot, Work


@reads(f.Needs, "needs: {n} for {s}")
def _(after: After, job: Work, found: Evidence, needs: int, long: Lasts) -> None:
    demand_equal(needs, job.procs)
    left = job.estimate - (after.world.ran[job.rank] if isinstance(found.entry, Suspended) else 0)
    demand(long.is_about(left), left)


@reads(f.Free, "free now: {n}", "free now: {n}, {n} of them kept for {j}")
def _(after: After, job: Work, found: Evidence, free: int, kept: int = 0, whom: str | None = None) -> None:
    world = after.world
    demand_equal(free, world.free_set().bit_count() if world.memo_rows is None else world.size())
    demand_equal(kept, (world.kept() & world.free_set()).bit_count())
    if kept:
        demand_equal(whom, None if world.awaited is None else world.jobs[world.awaited].name)


@reads(f.FreeInRow, "most free: {n} in row {n}; rows: {n} of at most {n}")
def _(after: After, job: Work, found: Evidence, free: int, row: int, many: int, most: int) -> None:
    turning, world = after.world.memo_rows, after.world
    demand_equal((many, most), (len(turning.rows), world.rules["mpl"]))
    there = {each.number: world.size() - taken_at_home(world, each).bit_count() for each in turning.rows}
    demand_equal(free, max(there.values()))
    demand_equal(free, there[row])


@reads(
    f.Enough,
    "enough free: by {t}, when {js} has ended",
    "enough free: by {t}, when {js} have ended",
    "enough free: by {t} in row {n}, when {js} has ended",
    "enough free: by {t} in row {n}, when {js} have ended",
)
def _(after: After, job: Work, found: Evidence, at: float, row: Any, names: Any = None) -> None:
    number, names = (None, row) if names is None else (row, names)
    are_enough(after, job, names, at, number)


@reads(f.PassedBy, "passed by: {n} job(s) that arrived later{any}")
def _(after: After, job: Work, found: Evidence, many: int, way: str) -> None:
    have_passed(after, job, many, way)


@reads(f.Ahead, "ahead of it: {n} job(s), {n} processor(s)")
def _(after: After, job: Work, found: Evidence, many: int, wanted: int) -> None:
    line = line_of(after.world, job)
    demand(job in line, "it stands in no queue")
    ahead = line[: line.index(job)]
    demand_equal((many, wanted), (len(ahead), sum(other.procs for other in ahead)), "before it")


_MOVED = ("", ", {s} later than before", ", {s} earlier than before")
_MADE = ("", " (recomputed at every step, not a promise)")


@reads(f.PlannedFor, *(f"planned for: {{t}}{moved}{made}" for moved in _MOVED for made in _MADE))
def _(after: After, job: Work, found: Evidence, at: float, moved: Lasts | None = None) -> None:
    is_planned(after, job, at)
    has_moved(after, job, at, moved)


@reads(f.PlannedFor, *(f"planned for: {{t}} in row {{n}}{moved}{made}" for moved in _MOVED for made in _MADE))
def _(after: After, job: Work, found: Evidence, at: float, row: int, moved: Lasts | None = None) -> None:
    is_planned(after, job, at)
    demand_equal(row, after.world.memo_rows.planned[job.rank][0])
    has_moved(after, job, at, moved)


def has_moved(after: After, job: Work, at: float, moved: Lasts | None) -> None:
    was = after.was.get(job.rank)
    if moved is not None:
        demand(was is not None and moved.is_about(abs(at - was)), f"it was planned for {was}")


@reads(f.AskedStart, "asked for: {t}", "asked for: {t}, granted")
def _(after: After, job: Work, found: Evidence, at: float) -> None:
    demand_equal(at, job.reserve)
    granted = any(isinstance(fact, f.AskedStart) and fact.granted for fact in found.facts)
    demand_equal(granted, job.rank in after.world.granted)


def delays(after: After, job: Work) -> dict[int, float]:
    """Return for each planned start, in the order of the plan: by how much it would be delayed if `job` started now, in
    seconds.

    Policies that replan at each pass make a new plan; otherwise each reservation moves to its next possible time.
    """
    world, later = after.world, dict[int, float]()
    slots = [*world.missing(), *(Slot(world.now, end, procs) for end, procs in world.ends())]
    slots.append(Slot(world.now, world.now + job.estimate, job.procs))
    stand = {
        rank: plan
        for rank, plan in after.planned.items()
        if rank != job.rank and ((world.rules.keeps and rank in world.planned) or rank in world.granted)
    }
    for rank in sorted(stand, key=lambda rank: world.place(world.jobs[rank])):
        plan, other = stand[rank], world.jobs[rank]
        at = world.earliest(other.procs, plan.lasts, slots, max(plan.at, world.now))
        slots.append(Slot(at, at + plan.lasts, other.procs))
        later[rank] = at - plan.at
    order = [other for other in heads(world) if other.rank in after.planned and other.rank not in stand]
    if world.rules.name == "multiqueue":
        order = in_turn(pivots_of(world))
    for rank, at in anew(world, slots, job.rank, order).items():
        later[rank] = at - after.planned[rank].at
    return {rank: seconds for rank, seconds in later.items() if seconds > 1e-6}


@reads(
    f.Delays,
    "if started: it would delay {j} by {s}",
    "if started: it would delay {j} by {s}, and {n} other",
    "if started: it would delay {j} by {s}, and {n} others",
)
def _(after: After, job: Work, found: Evidence, other: str, by: Lasts, more: int = 0) -> None:
    later = delays(after, job)
    first = demanded(next(iter(later), None), "it would delay nobody")
    demand_equal((other, more), (after.world.jobs[first].name, len(later) - 1), "who, and how many others")
    demand(by.is_about(later[first]), later[first])


@reads(f.DelaysNobody, "if started: it would delay no planned job")
def _(after: After, job: Work, found: Evidence) -> None:
    demand_equal(delays(after, job), {}, "would be later")


@reads(f.Grown, "xfactor: {x}")
def _(after: After, job: Work, found: Evidence, xfactor: Tenths) -> None:
    demand(xfactor.is_about(after.world.xfactor(job.rank)), after.world.xfactor(job.rank))


@reads(f.Ran, "has run: {s} of at most {s}")
def _(after: After, job: Work, found: Evidence, ran: Lasts, most: Lasts) -> None:
    has_run(after, job, found, ran, most)


@reads(f.Sitters, "on its procs: {any}")
def _(after: After, job: Work, found: Evidence, told: str) -> None:
    world, own = after.world, after.world.aside[job.rank].mask
    sitters = re.findall(r"(J\d+) \(([\d,]+), until @([^@]*)@\)", told)
    more, row = re.search(r"([\d,]+) more", told), re.search(r" in row (\d+)$", told)
    sitters_are(after, job, ([name for name, _, _ in sitters], whole(more[1]) if more else 0), None)
    turning = world.memo_rows
    for name, procs, until in sitters:
        rank = world.by_name[name].rank
        mask = world.running[rank].mask if turning is None else turning.columns[rank]
        demand_equal(whole(procs), (mask & own).bit_count(), "processors")
        true = world.running[rank].ends if turning is None else finish(world, rank)
        demand(abs(float(until) - true) < 1e-6, f"until {true}")
        demand_equal(row and int(row[1]), turning and turning.home_of(rank).number, "row")


@reads(f.KeptFree, "its procs: kept free for it: no other job starts on them")
def _(after: After, job: Work, found: Evidence) -> None:
    demand_equal(after.world.awaited, job.rank)


@reads(f.PassesJobs, "passes: {js}")
def _(after: After, job: Work, found: Evidence, said: Names) -> None:
    ranks = sorted(r for r in after.world.waiting if (after.world.jobs[r].submit, r) < (job.submit, job.rank))
    fact = next(fact for fact in found.facts if isinstance(fact, f.PassesJobs))
    demand_equal(sorted(other.rank for other in fact.jobs), ranks, "who came before and waits on")
    demand_equal(len(said[0]) + said[1], len(ranks))
    demand_equal(said[0], [f"J{other.id}" for other in fact.jobs[: len(said[0])]], "the first of them")


@reads(f.Freed, "ended now: {js}")
def _(after: After, job: Work, found: Evidence, said: Names) -> None:
    ended = [after.world.jobs[rank].name for rank in after.world.completed]
    demand_equal((said[0], said[1]), (ended[: len(said[0])], len(ended) - len(said[0])))


@reads(Detail, "{any}: {any}")
def _(after: After, job: Work, found: Evidence, label: str, value: str) -> None:
    own = [d for d in after.decisions if getattr(d, "job", None) == found.job and hasattr(d, "because")]
    told = " ".join(why(d.because, found.job, exactly) for d in own).replace(",", "")
    number = re.escape(value.replace(",", ""))
    zeros = "0*" if "." in value else r"(?:\.0+)?"
    demand(re.search(rf"(?<![\d.]){number}{zeros}(?!\d|\.\d)", told), f"not in {told!r}")
