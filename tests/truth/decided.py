"""Check the sentences of all decisions in order; each decision is then applied to the recomputed state."""

from math import inf
from typing import Any

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions import reasons, reasons_to_wait
from sim.decisions import reasons_in_rows as in_rows
from sim.decisions.reasons import FitsBeside, WhenRoom
from sim.decisions.sentences import say, why
from tests.truth import preempt, queues, rows, space
from tests.truth.rows import Rows
from tests.truth.rules import KEEP_RESERVATIONS
from tests.truth.submissions import cancel
from tests.truth.words import Lasts, UntrueError, demand, demand_equal, exactly, read_aloud, reads
from tests.truth.world import Held, Plan, Stopped, Work, World, lowest, mask_of

UNSAID = {
    d.Expect: "a plan for this pass, which no step shows",
    d.Wake: "a timer, which is not kept",
    WhenRoom: "on a machine of nodes, which these runs do not have",
    FitsBeside: "on a machine of nodes, which these runs do not have",
}
"""For each decision or reason without a check of its sentence: why no step of these runs shows it."""

__all__ = ["preempt", "queues"]  # importing this module registers their checks


def instant(world: World, now: float) -> None:
    """Update the state by the events of an instant that come before the policy's pass."""
    turning: Rows | None = world.memo_rows
    world.begin(now)
    if turning is not None:
        turning.there, turning.came_to = world.there(), ""
        for rank in turning.elapse(now, [job.run for job in world.jobs]):
            world.completed.append(rank)
            world.expected[rank] = now + world.jobs[rank].estimate - world.jobs[rank].run
            world.finished.add(rank)


def after_pass(world: World) -> None:
    space.bound_arrivals(world)
    turning: Rows | None = world.memo_rows
    if turning is not None:
        turning.settle(world.now)
        if turning.on_turn is not None:
            for rank in turning.on_turn.home | turning.on_turn.guests:
                world.first_start.setdefault(rank, world.now)
                turning.new.discard(rank)


def read_decision(world: World, decision: Any) -> None:
    """Check the sentence and the reason of a decision, then apply it to the recomputed state."""
    told = say(decision, exactly)
    because = getattr(decision, "because", None)
    head, reason = told, ""
    if because is not None:
        reason = why(because, decision.job, exactly)
        demand(told.endswith(f": {reason}"), f"{told!r} does not end with its reason {reason!r}")
        head = told.removesuffix(f": {reason}")
    read_aloud(type(decision), head, world, decision)
    if because is not None:
        read_reason(world, decision, reason)
    do(world, decision)


def read_reason(world: World, decision: Any, reason: str) -> None:
    kind, job = type(decision.because), world.jobs[decision.job.rank]
    if world.memo_rows is not None and kind.__module__ == in_rows.__name__:
        number = getattr(decision, "row", None)
        row = None if number is None else world.memo_rows.row(number)
        if isinstance(decision, m.Stall):
            row = world.memo.get("coming to")
        read_aloud(kind, reason, world, job, row)
        if isinstance(decision, m.ReserveRow):
            rows.earliest_in_row(world, job, world.memo_rows.row(decision.row), decision.at)
        return
    read_aloud(kind, reason, world, job)
    if isinstance(decision, d.Reserve):
        demand(kind in space.AT, f"nobody knows when a start by {kind.__name__} must be planned")
        try:
            space.AT[kind](world, job, decision.at)
        except UntrueError as false:
            raise UntrueError(f"Reserve {kind.__name__}: {false}") from None


# Checks of decisions: state, decision, values in the sentence
def is_about(world: World, decision: Any, name: str) -> Work:
    job: Work = world.jobs[decision.job.rank]
    demand_equal(name, job.name)
    return job


@reads(d.Start, "{j} starts on {n} processor(s)", "{j} starts on {n} processor(s) for at most {s}")
@reads(d.Backfill, "{j} is backfilled on {n} processor(s)", "{j} is backfilled on {n} processor(s) for at most {s}")
def _(world: World, decision: d.Start, name: str, procs: int, limit: Lasts | None = None) -> None:
    job = is_about(world, decision, name)
    demand(job.rank in world.waiting, "it does not wait")
    demand_equal(procs, job.procs)
    stay = world.stays[job.rank][world.upcoming[job.rank]]
    demand_equal(stay.kind == "speculative", limit is not None)
    demand(limit is None or limit.is_about(world.limit_of(job.rank)))


@reads(d.Reserve, "{j} is planned for {t}")
def _(world: World, decision: d.Reserve, name: str, at: float) -> None:
    demand(is_about(world, decision, name).rank in world.waiting)
    demand(at == decision.at >= world.now)


@reads(d.Suspend, "{j} is suspended", "{j} is suspended, which takes {s}")
def _(world: World, decision: d.Suspend, name: str, takes: Lasts | None = None) -> None:
    rank = is_about(world, decision, name).rank
    demand(rank in world.running and world.running[rank].kind == "run")
    if takes is not None:
        stay = world.stays[rank][world.upcoming[rank]]
        assert stay.end is not None
        is_cut = any(o.begins == stay.end and o.processors & stay.processors for o in world.outages)
        demand(takes.is_about(decision.overhead if is_cut else stay.end - world.now))


@reads(d.Resume, "{j} resumes", "{j} resumes, which takes {s}")
def _(world: World, decision: d.Resume, name: str, takes: Lasts | None = None) -> None:
    rank = is_about(world, decision, name).rank
    demand(rank in world.aside)
    if takes is not None:
        stay = world.stays[rank][world.upcoming[rank]]
        demand(stay.kind == "resuming" and takes.is_about(decision.overhead))


@reads(d.Await, "the processors of {j} are kept free for it: it is the next to resume")
def _(world: World, decision: d.Await, name: str) -> None:
    rank = is_about(world, decision, name).rank
    demand(rank in world.aside)


@reads(d.Switched, "this run changes from {any} to {any}")
def _(world: World, decision: d.Switched, was: str, now: str) -> None:
    demand_equal(was, world.rules.spec)
    demand_equal(now, decision.now)


@reads(d.Gone, "processors {p} fail, until {t}", "processors {p} fail, permanently")
def _(world: World, decision: d.Gone, which: str, until: float = inf) -> None:
    demand_equal(mask_of(which), failing(world) & lost(world), "what fails")
    are_back(world, mask_of(which), until)


@reads(d.Gone, "processors {p}, already down, fail, until {t}")
@reads(d.Gone, "processors {p}, already down, fail, permanently")
def _(world: World, decision: d.Gone, which: str, until: float = inf) -> None:
    demand_equal(mask_of(which), failing(world), "what fails")
    demand(not mask_of(which) & lost(world), "they were there")
    are_back(world, mask_of(which), until)


@reads(d.Gone, "processors {p} go down for announced maintenance, until {t}")
def _(world: World, decision: d.Gone, which: str, until: float) -> None:
    demand_equal(mask_of(which), lost(world) & ~failing(world), "what goes")
    are_back(world, mask_of(which), until)


def lost(world: World) -> int:
    return world.absent(world.now) & ~world.absent(world.now - 1e-6)


def failing(world: World) -> int:
    """Return the processors (bits) with an outage that begins now without announcement, even if already down."""
    mask = 0
    for outage in world.outages:
        mask |= outage.processors if abs(outage.begins - world.now) <= 1e-6 and not outage.announced else 0
    return mask


def are_back(world: World, mask: int, until: float) -> None:
    times = [world.now, *(o.ends for o in world.known() if o.ends > world.now)]
    demand_equal(until, min((time for time in times if not world.absent(time) & mask), default=inf), "when it is back")


@reads(d.Returned, "processors {p} become available")
def _(world: World, decision: d.Returned, which: str) -> None:
    demand_equal(mask_of(which), world.absent(world.now - 1e-6) & ~world.absent(world.now), "what comes")


@reads(d.Interrupt, "{j} is interrupted after {s}: its processors went down; it returns to the queue")
def _(world: World, decision: d.Interrupt, name: str, ran: Lasts) -> None:
    rank = is_about(world, decision, name).rank
    turning = world.memo_rows
    in_rows = turning is not None and rank in turning.ran
    demand(ran.is_about(turning.ran[rank] if in_rows else world.progress(rank)))
    own = world.running[rank].mask if rank in world.running else 0
    own |= world.aside[rank].mask if rank in world.aside else 0
    if world.memo_rows is not None and rank in world.memo_rows.columns:
        own = world.memo_rows.columns[rank]
    demand(bool(own & world.absent(world.now)), "its processors are there")


@reads(d.Drop, "{j} is cancelled: it needs {n} processor(s) and at most {n} will ever be available")
def _(world: World, decision: d.Drop, name: str, needs: int, most: int) -> None:
    demand_equal(needs, is_about(world, decision, name).procs)
    demand_equal(most, world.procs - world.absent(1e15).bit_count())
    demand(needs > most)


@reads(d.Divide, "the machine is divided into partitions of {any} processors")
def _(world: World, decision: d.Divide, shares: str) -> None:
    sizes = [int(part.replace(",", "")) for part in shares.replace(" and ", ", ").split(", ")]
    demand_equal(sizes, [owned.bit_count() for owned in divided(world)])


@reads(d.Borrow, "partition {n} borrows {n} processor(s) from partition {n} for {j}")
def _(world: World, decision: d.Borrow, to: int, many: int, lender: int, name: str) -> None:
    job = is_about(world, decision, name)
    idle = [queues.idle_in(world, partition) for partition in range(len(world.owners))]
    demand_equal(to, world.rules.class_of(job), "its partition")
    others = [partition for partition in range(len(idle)) if partition != to]
    demand_equal(lender, max(others, key=lambda partition: (idle[partition], -partition)), "the lender")
    demand_equal(many, min(job.procs - idle[to], idle[lender]), "lent")


@reads(d.Keep, "{j} waits")
def _(world: World, decision: d.Keep, name: str) -> None:
    rank = is_about(world, decision, name).rank
    demand(rank in world.waiting or rank in world.aside)


def divided(world: World) -> list[int]:
    """Return each partition's processors (bits): equal parts, changed so that each owns what its jobs hold."""
    parts, there, owners = (len(world.rules.classes) + 1, world.there(), list[int]())
    many = there.bit_count()
    for place in range(parts):
        owners.append(lowest(there, many // parts + (place < many % parts)))
        there ^= owners[-1]
    for rank, held in world.running.items():
        owners = [owned & ~held.mask for owned in owners]
        owners[world.rules.class_of(world.jobs[rank])] |= held.mask
    return owners


# Decisions about a matrix
@reads(m.Phase, "rebuild phase: {any}")
def _(world: World, decision: m.Phase, name: str) -> None:
    demand_equal(name, decision.name)
    turning: Rows = world.memo_rows
    demand(name in turning.next_phases("migrate" in world.rules.name), f"after {turning.came_to}")


@reads(m.Clean, "replicas are removed: every job stays in its home row only")
def _(world: World, decision: m.Clean) -> None:
    demand(any(row.guests for row in world.memo_rows.rows), "there are no replicas")


@reads(m.DropRows, "empty rows are removed")
def _(world: World, decision: m.DropRows) -> None:
    demand(not all(world.memo_rows.taken(row) for row in world.memo_rows.rows), "none is empty")


@reads(m.OpenRow, "a new row is opened")
def _(world: World, decision: m.OpenRow) -> None:
    turning: Rows = world.memo_rows
    demand(all(map(turning.taken, turning.rows)), "one is empty")
    is_scheduled = turning.came_to.startswith("schedule") and len(turning.rows) < world.rules["mpl"]
    demand(is_scheduled or any(at <= world.now for at in world.granted.values()), "nobody may open one")


@reads(m.Place, "{j} is placed in row {n}, columns {p}")
def _(world: World, decision: m.Place, name: str, row: int, columns: str) -> None:
    job = is_about(world, decision, name)
    demand(job.rank in world.waiting or job.rank in world.aside)
    turning = world.memo_rows
    free = world.there() & ~turning.taken(turning.row(row))
    own = world.aside.get(job.rank)
    demand_equal(row, decision.row)
    demand_equal(mask_of(columns), lowest(free, job.procs) if own is None else own.mask)


@reads(m.Rehome, "{j} moves to row {n} and keeps its columns")
def _(world: World, decision: m.Rehome, name: str, row: int) -> None:
    job = is_about(world, decision, name)
    world.memo["newcomer"] = job.rank
    demand(world.memo_rows.home_of(job.rank).number != row == decision.row)


@reads(m.Replicate, "{j} also gets row {n}")
def _(world: World, decision: m.Replicate, name: str, row: int) -> None:
    job = is_about(world, decision, name)
    there = world.memo_rows.row(row)
    demand(row == decision.row and job.rank not in there.home | there.guests)


@reads(
    m.Migrate,
    "{j} migrates to columns {p} of row {n}",
    "{j} migrates to columns {p} of row {n}, losing {s} of its own turns",
)
def _(world: World, decision: m.Migrate, name: str, columns: str, row: int, stall: Lasts | None = None) -> None:
    job = is_about(world, decision, name)
    demand_equal((mask_of(columns).bit_count(), row), (job.procs, decision.row))
    demand_equal(mask_of(columns), decision.columns)
    cost = world.rules["cost"]
    demand(stall.is_about(cost) if stall is not None else not cost)
    world.memo["coming to"] = world.memo_rows.row(row)
    if isinstance(decision.because, in_rows.OtherColumns):
        world.memo["newcomer"] = job.rank


@reads(m.Stall, "{j} keeps its columns and loses {s} of its turns to another job's migration")
def _(world: World, decision: m.Stall, name: str, seconds: Lasts) -> None:
    is_about(world, decision, name)
    demand(seconds.is_about(world.rules["cost"] / 2))


@reads(m.ReserveRow, "{j} is planned for {t} in row {n}")
def _(world: World, decision: m.ReserveRow, name: str, at: float, row: int) -> None:
    demand(is_about(world, decision, name).rank in world.waiting)
    demand_equal((at, row), (decision.at, decision.row))


@reads(m.TurnTo, "row {n} gets its turn now because a reservation in it is due")
def _(world: World, decision: m.TurnTo, row: int) -> None:
    demand(any(at <= world.now for at in world.granted.values()), "no reservation is due")
    demand_equal(row, world.memo_rows.rows[-1].number)


# Effects
def do(world: World, decision: Any) -> None:
    match decision:
        case d.Start(job, _, _, limit) | d.Backfill(job, _, _, limit):
            if isinstance(decision.because, reasons.WithinBounds | reasons.BreaksNoBound):
                world.memo["around"] = space.others_around(world, world.jobs[job.rank]).starts
                world.bounds.pop(job.rank, None)
            world.start(job.rank, limit)
        case d.Reserve(job, at, because, lasts):
            if world.rules.keeps:
                world.planned[job.rank] = Plan(at, lasts or job.estimate)
            if isinstance(because, reasons.AskedFor):
                world.granted[job.rank] = at
            if world.rules.name == "slack" and job.rank not in world.bounds:
                world.bounds[job.rank] = at + world.rules["slack"] * job.estimate
        case d.Suspend(job, because, overhead):
            by = None if isinstance(because, reasons.ReservationDue) else getattr(because, "by", None)
            world.suspend(job.rank, overhead, None if by is None else by.rank)
        case d.Resume(job, _, overhead):
            world.memo.pop("anew", None)
            world.resume(job.rank, overhead)
        case d.Await(job):
            world.awaited = job.rank
            if world.rules.name in KEEP_RESERVATIONS:
                world.bounds.clear()
                world.coming |= world.planned.keys() - world.granted.keys()
                world.planned = {rank: plan for rank, plan in world.planned.items() if rank in world.granted}
        case d.Divide():
            world.owners = divided(world)
            world.division = [*world.owners]
        case d.Borrow(job, to, lender, processors):
            many = processors.bit_count()
            lent = lowest(world.owners[lender] & world.free_set() & ~world.kept(), many)
            demand_equal(lent, processors, "the lowest idle ones")
            world.owners[lender] &= ~lent
            world.owners[to] |= lent
            world.borrowed[job.rank] = world.borrowed.get(job.rank, 0) + many
        case d.Switched():
            switch(world, decision.now)
        case d.Gone() if not decision.announced:
            world.memo["falling"] = dict(world.granted)
            fallen = world.planned.keys() - world.granted.keys()
            world.coming |= fallen
            for rank in fallen:
                world.bounds.pop(rank, None)
            world.planned = {rank: plan for rank, plan in world.planned.items() if rank in world.granted}
            world.owners = []
        case d.Gone() | d.Returned():
            world.owners = []
        case d.Interrupt(job):
            world.bounds.pop(job.rank, None)
            if world.memo_rows is not None and job.rank in world.memo_rows.columns:
                world.memo_rows.leave(job.rank)
                skip_stays(world, job.rank)
            world.interrupt(job.rank)
        case d.Drop(job):
            world.waiting.discard(job.rank)
            cancel(world, job.rank)
            for plans in (world.planned, world.granted, world.bounds):
                plans.pop(job.rank, None)
        case d.Keep(job, reasons_to_wait.TouchesReservation()) if world.rules.name != "multiqueue":
            world.passed_over.add(job.rank)
            world.started = []  # all other jobs are considered again
            world.memo.pop("anew", None)
        case d.Keep():
            pass
        case _:
            in_matrix(world, decision)


def in_matrix(world: World, decision: Any) -> None:
    turning: Rows = world.memo_rows
    match decision:
        case m.Phase(name):
            turning.phase(name)
        case m.Clean():
            for row in turning.rows:
                row.guests.clear()
            turning.gone.clear()
        case m.DropRows():
            turning.drop()
        case m.OpenRow():
            turning.open()
        case m.Place(job, row, columns):
            turning.place(job.rank, turning.row(row), columns, world.ran.get(job.rank, 0.0))
            if job.rank in world.waiting:
                turning.new.add(job.rank)
            world.waiting.discard(job.rank)
            world.aside.pop(job.rank, None)
            world.granted.pop(job.rank, None)
            world.planned.pop(job.rank, None)
        case m.Rehome(job, row):
            turning.move(job.rank, turning.row(row))
        case m.Replicate(job, row):
            turning.replicate(job.rank, turning.row(row))
        case m.Migrate(job, row, columns, stall):
            turning.move(job.rank, turning.row(row), columns)
            turning.stall[job.rank] += stall
            turning.tasks += job.procs
        case m.Stall(job, seconds):
            turning.stall[job.rank] += seconds
        case m.ReserveRow(job, row, at):
            turning.planned[job.rank] = (row, at)
        case m.TurnTo(row):
            turning.to_turn = turning.row(row)
        case _:
            raise UntrueError(f"nobody knows what {type(decision).__name__} does")


# Policy switch
def switch(world: World, spec: str) -> None:
    turning: Rows | None = world.memo_rows
    if turning is not None:
        leave_matrix(world, turning)
    world.switch(spec)
    world.bounds.clear()
    if world.rules.is_gang:
        enter_matrix(world)


def leave_matrix(world: World, turning: Rows) -> None:
    """After a switch, let jobs of the active row run on, suspend other started jobs, and queue the rest."""
    turning.rows = [row for row in turning.rows if row.home or row.guests]
    turning.settle(world.now)
    on_turn = turning.on_turn
    for rank, columns in turning.columns.items():
        world.ran[rank] = turning.ran[rank]
        if on_turn is not None and rank in on_turn.home | on_turn.guests:
            left = world.jobs[rank].estimate - turning.ran[rank]
            world.running[rank] = Held(world.now, world.now + left, columns, "run", turning.ran[rank])
            world.first_start.setdefault(rank, world.now)
        elif rank not in turning.new:
            world.aside[rank] = Stopped(columns, world.now)
        else:
            world.waiting.add(rank)
    world.memo_rows = None
    for rank in turning.columns:
        skip_stays(world, rank)


def skip_stays(world: World, rank: int) -> None:
    """Make `upcoming` point to the job's first stay after the past ones in the matrix; if it runs, one further."""
    stays, place = world.stays.get(rank, []), world.upcoming[rank]
    while place < len(stays) and stays[place].kind == "gang" and (stays[place].end or inf) <= world.now:
        place += 1
    world.upcoming[rank] = place + (rank in world.running)


def enter_matrix(world: World) -> None:
    """Enter a matrix after a switch: place the running jobs in one row."""
    turning = Rows(world.procs, world.rules["slice"], world.rules["cs"])
    turning.since, turning.there = world.now, world.there()
    for rank, held in world.running.items():
        if held.kind != "suspending":
            row = turning.rows[0] if turning.rows else turning.open()
            owed = world.stay(rank).end
            turning.place(rank, row, held.mask, world.progress(rank))
            turning.stall[rank] = (owed or 0) - world.now if held.kind == "resuming" else 0.0
    world.running = {}
    world.memo_rows = turning
