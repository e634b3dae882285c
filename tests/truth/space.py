"""Check the reasons of the policies that never suspend jobs or share processors in time, against the recomputed
state."""

from typing import NamedTuple

from sim.decisions import reasons as r
from sim.decisions import reasons_to_wait as k
from tests.truth.peers import in_tail, passing, predicted, shadow_of
from tests.truth.words import Lasts, demand, demand_equal, demanded, reads
from tests.truth.world import Slot, Work, World, has_room


# Recomputed values
def head_of(world: World) -> Work:
    """Return the first waiting job that does not fit; fail if all fit."""
    return demanded(first_unfit(world), "no job is the head")


def first_unfit(world: World) -> Work | None:
    """Return the first waiting job that did not fit when the policy considered it, or None.

    Jobs behind it that have started in this pass do not count, because they did not hold processors then.
    """
    for job in world.line():
        behind = sum(procs for place, procs in world.started if place > world.place(job))
        if job.procs > world.free() + behind or not world.in_time(job):
            return job
    return None


def slots_of_pass(world: World) -> dict[int, float]:
    """Return the planned starts of this pass, by rank: the plan made from nothing at its beginning, in the order of the
    queue."""
    if "anew" not in world.memo:
        world.memo["anew"] = plan_anew(world)
    found: dict[int, float] = world.memo["anew"]
    return found


def plan_anew(world: World) -> dict[int, float]:
    """Return the planned starts, by rank, that `replan` or EASY with depth > 1 computes before it starts any job."""
    starts = dict[int, float]()
    slots, heads, deep = world.slots(), 0, world.rules.name == "easy"
    free, in_turn = world.free(), deep
    line = world.line()
    for place, job in enumerate(line):
        if in_turn and job.procs <= free and world.in_time(job):  # a deep EASY first starts from the front
            free -= job.procs
            slots.append(Slot(world.now, world.now + job.estimate, job.procs))
            continue
        in_turn = False
        at = starts[job.rank] = world.earliest(job.procs, job.estimate, slots)
        if deep and at > world.now:
            heads += 1
            if heads == world.rules["depth"]:
                line[place + 1 :] = in_tail(line[place + 1 :], world.rules["tail"])
            if heads > world.rules["depth"]:
                continue
        slots.append(Slot(at, at + job.estimate, job.procs))
    return starts


def window_closes(world: World, head: Work) -> float:
    """Return the latest time to which relaxed backfilling lets the head's start move, computed before any job passed
    the head in this pass."""
    if "closes" not in world.memo:
        wait = world.room_of(head)[0] - world.now
        window = world.rules["omega"] * wait
        if world.rules["relative"] == "runtime":
            window = wait + (world.rules["omega"] - 1) * head.estimate
        world.memo["closes"] = world.now + window
    return float(world.memo["closes"])


class Placed(NamedTuple):
    """Planned starts of all other jobs if one job starts now: the starts by rank, in order, and the jobs that would
    start too late."""

    starts: dict[int, float]
    late: list[int]


# Why a job starts
@reads(r.InOrder, "next in the queue and fits: needs {n}, {n} free")
def _(world: World, job: Work, needs: int, free: int) -> None:
    needs_of(world, job, needs, free)
    demand_equal(world.line()[0].name, job.name, "first in the queue")


@reads(r.Fits, "it fits: needs {n}, {n} free")
def _(world: World, job: Work, needs: int, free: int) -> None:
    needs_of(world, job, needs, free)
    demand(needs <= free)


def needs_of(world: World, job: Work, needs: int, free: int) -> None:
    demand_equal((needs, free), (job.procs, world.free()), "needs, free")


@reads(r.EndsBefore, "ends at {t}, before {j}'s start at {t}")
def _(world: World, job: Work, ends: float, head: str, shadow: float) -> None:
    demand(ends < shadow)
    ends_by(world, job, ends, head, shadow)


@reads(r.EndsBefore, "ends at {t}, just when {j} is to start")
def _(world: World, job: Work, ends: float, head: str) -> None:
    ends_by(world, job, ends, head, ends)


def ends_by(world: World, job: Work, ends: float, head: str, shadow: float) -> None:
    first = head_of(world)
    demand_equal((head, ends, shadow), (first.name, world.now + job.estimate, world.room_of(first)[0]))


@reads(r.FitsExtra, "needs {n} of the {n} extra processors that {j} leaves free at {t}")
def _(world: World, job: Work, needs: int, extra: int, head: str, at: float) -> None:
    first = head_of(world)
    shadow, free = shadow_of(world, first)
    demand_equal((needs, extra, head, at), (job.procs, free - first.procs, first.name, shadow))
    demand(needs <= extra)


@reads(r.Due, "its planned start is now")
def _(world: World, job: Work) -> None:
    due = world.granted.get(job.rank)
    demand((world.planned[job.rank].at if due is None else due) <= world.now)


@reads(r.Planned, "the new plan starts it now")
def _(world: World, job: Work) -> None:
    demand_equal(slots_of_pass(world)[job.rank], world.now)


@reads(r.InWindow, "ends at {t}, within {j}'s window, which closes at {t}")
def _(world: World, job: Work, ends: float, head: str, closes: float) -> None:
    first = head_of(world)
    demand_equal((ends, head), (world.now + job.estimate, first.name))
    demand(abs(closes - window_closes(world, first)) < 1e-6 or closes == window_closes(world, first))
    demand(ends <= closes + 1e-6)


@reads(r.InWindow, "{j}'s window is unlimited")
def _(world: World, job: Work, head: str) -> None:
    demand_equal(head, head_of(world).name)
    demand_equal(world.rules["omega"], float("inf"))


@reads(r.AsRecorded, "it fits; the trace records no start for it")
def _(world: World, job: Work) -> None:
    demand_equal(job.recorded, None)
    demand(job.procs <= world.free())


@reads(r.AsRecorded, "its recorded start is now")
def _(world: World, job: Work) -> None:
    demand_equal(job.recorded, world.now)


@reads(r.AsRecorded, "its recorded start was {t}, {s} ago")
def _(world: World, job: Work, recorded: float, late: Lasts) -> None:
    demand_equal(recorded, job.recorded)
    demand(late.is_about(world.now - recorded))
    demand(recorded < world.now)


# Within bounds
def bounds_of(world: World) -> dict[int, float]:
    bound_arrivals(world)
    return world.bounds


def bound_arrivals(world: World) -> None:
    """Compute the bounds of the starts of new jobs under `shadow`: submit + k * (start that conservative backfilling
    would promise - submit)."""
    if world.rules.name != "shadow" or world.memo.setdefault("bounded", not world.coming):
        return
    world.memo["bounded"] = True
    bounds, slots = world.bounds, world.slots()
    for rank in sorted(world.waiting - world.granted.keys()):  # includes jobs that the pass passed over since
        job = world.jobs[rank]
        at = world.earliest(job.procs, job.estimate, slots)
        slots.append(Slot(at, at + job.estimate, job.procs))
        if rank not in bounds:
            bounds[rank] = job.submit + world.rules["shadows"] * (at - job.submit)


def others_around(world: World, job: Work | None) -> Placed:
    """Return the other jobs' planned starts by the policy's rule if `job` starts now (None: if no job starts)."""
    bounds = bounds_of(world)
    starts, late = dict[int, float](), []
    if world.rules.name == "shadow":
        ranks = [r for r in world.waiting if not world.is_hidden(r)]
        order = sorted(ranks, key=lambda rank: (bounds[rank], rank))
    else:
        own = {rank: plan for rank, plan in world.planned.items() if not world.is_hidden(rank)}
        order = sorted(own, key=lambda rank: (own[rank].at, rank))
    slots = [*world.missing(), *(Slot(world.now, end, procs) for end, procs in world.ends())]
    slots += [
        Slot(max(at, world.now), max(at, world.now) + world.jobs[rank].estimate, world.jobs[rank].procs)
        for rank, at in world.granted.items()
    ]
    if job is not None:
        slots.append(Slot(world.now, world.now + job.estimate, job.procs))
    for rank in order:
        if job is not None and rank == job.rank:
            continue
        other = world.jobs[rank]
        at = starts[rank] = world.earliest(other.procs, other.estimate, slots)
        slots.append(Slot(at, at + other.estimate, other.procs))
        if at > bounds[rank] + 1e-6:
            late.append(rank)
    return Placed(starts, late)


@reads(r.WithinBounds, "no other waiting job has a latest start that it could break")
def _(world: World, job: Work) -> None:
    demand_equal(others_around(world, job).starts, {})


@reads(r.WithinBounds, "all other waiting jobs can still start in time; the tightest is {j} with {s} to spare")
def _(world: World, job: Work, tightest: str, margin: Lasts) -> None:
    placed = others_around(world, job)
    demand_equal(placed.late, [], "too late")
    rank = is_tightest(world, tightest, placed)
    demand(margin.is_about(bounds_of(world)[rank] - placed.starts[rank]))


_IN_TIME = "all other waiting jobs can still start in time, except {j}, already {s} past its latest start"


@reads(
    r.BreaksNoBound, _IN_TIME, f"{_IN_TIME}, and {{n}} other past theirs", f"{_IN_TIME}, and {{n}} others past theirs"
)
def _(world: World, job: Work, tightest: str, missed: Lasts, more: int = 0) -> None:
    placed, before = others_around(world, job), others_around(world, None)
    demand_equal(len(placed.late) - 1, more, "how many others are past theirs")
    demand(not set(placed.late) - set(before.late), "not all were past theirs before")
    rank = is_tightest(world, tightest, placed)
    demand(missed.is_about(placed.starts[rank] - bounds_of(world)[rank]))


def is_tightest(world: World, tightest: str, placed: Placed) -> int:
    bounds, rank = bounds_of(world), world.by_name[tightest].rank
    least = min(bounds[other] - at for other, at in placed.starts.items())
    demand_equal(bounds[rank] - placed.starts[rank], least, "the least margin")
    return rank


@reads(r.PredictedBefore, "is predicted to end at {t}, by {j}'s start at {t}")
def _(world: World, job: Work, ends: float, head: str, shadow: float) -> None:
    first = head_of(world)
    demand_equal((head, ends, shadow), (first.name, world.now + predicted(world, job), shadow_of(world, first)[0]))
    demand(ends <= shadow + 1e-6)


@reads(
    r.BestPacking,
    "one of the jobs that together fill the most free processors, {n} of {n}, without delaying {j}'s start at {t}",
)
def _(world: World, job: Work, filled: int, free: int, head: str, shadow: float) -> None:
    found, first = passing(world, head_of(world)), head_of(world)
    demand(job.rank in found.ranks, "it is not one of them")
    demand_equal((filled, free, head, shadow), (found.filled, found.free, first.name, world.room_of(first)[0]))


@reads(
    r.BestOfOrders,
    "in the best order tried, {any}, {n} job passes {j} without delaying its start at {t}",
    "in the best order tried, {any}, {n} jobs pass {j} without delaying its start at {t}",
)
def _(world: World, job: Work, order: str, many: int, head: str, shadow: float) -> None:
    found, first = passing(world, head_of(world)), head_of(world)
    demand(job.rank in found.ranks, "it is not one of them")
    demand_equal((order, many, head, shadow), (found.order, len(found.ranks), first.name, world.room_of(first)[0]))


# Why a start is planned
@reads(r.WhenFree, "needs {n} > {n} free now; {n} free then", "needs {n}, {n} free now; {n} free then")
def _(world: World, job: Work, needs: int, free: int, then: int) -> None:
    needs_of(world, job, needs, free)
    demand_equal(head_of(world).name, job.name, "the head")
    if world.rules.name == "relaxed":
        window_closes(world, job)
    if world.rules.name in ("greedy", "lookahead"):
        passing(world, job)
    demand_equal(then, world.room_of(job)[1])


@reads(
    r.WhenPredicted,
    "needs {n} > {n} free now; {n} free then by predicted run times",
    "needs {n}, {n} free now; {n} free then by predicted run times",
)
def _(world: World, job: Work, needs: int, free: int, then: int) -> None:
    needs_of(world, job, needs, free)
    demand_equal(head_of(world).name, job.name, "the head")
    demand_equal(then, shadow_of(world, job)[1])


def when_predicted(world: World, job: Work, at: float) -> None:
    demand_equal(at, shadow_of(world, job)[0])


def when_free(world: World, job: Work, at: float) -> None:
    demand_equal(at, world.room_of(job)[0])


@reads(r.EarliestHole, "the earliest time with {n} processor(s) free for {s}; {n} free now")
def _(world: World, job: Work, needs: int, long: Lasts, free: int) -> None:
    needs_of(world, job, needs, free)
    demand(long.is_about(job.estimate))


def earliest_hole(world: World, job: Work, at: float) -> None:
    if world.rules.keeps:
        demand_equal(at, world.earliest(job.procs, job.estimate, world.slots(job.rank)))
    else:
        demand_equal(at, slots_of_pass(world)[job.rank])


@reads(r.Compressed, "a job ended early and the plan was compressed; previously planned for {t}")
def _(world: World, job: Work, was: float) -> None:
    demand(world.early, "nobody ended early")
    demand_equal(was, world.planned[job.rank].at)


def compressed(world: World, job: Work, at: float) -> None:
    demand_equal(at, world.earliest(job.procs, job.estimate, world.slots(job.rank)))
    demand(at < world.planned[job.rank].at)


@reads(r.NewPlan, "replanned from scratch")
def _(world: World, job: Work) -> None:
    demand_equal(world.rules.name, "replan", "whose plan is made anew at each pass")


def new_plan(world: World, job: Work, at: float) -> None:
    demand_equal(at, slots_of_pass(world)[job.rank])


@reads(r.MadeRoom, "{j} started and the other jobs were replanned around it; previously planned for {t}")
def _(world: World, job: Work, passer: str, was: float) -> None:
    demand_equal(world.running[world.by_name[passer].rank].since, world.now)
    demand_equal(was, world.planned[job.rank].at)


def made_room(world: World, job: Work, at: float) -> None:
    demand_equal(at, world.memo["around"][job.rank])


AT = {
    r.WhenFree: when_free,
    r.WhenPredicted: when_predicted,
    r.EarliestHole: earliest_hole,
    r.Compressed: compressed,
    r.NewPlan: new_plan,
    r.MadeRoom: made_room,
}
"""For each type of reason for a planned start: the function that checks the start."""


# Why a job waits
@reads(k.TooFewFree, "needs {n} > {n} free")
def _(world: World, job: Work, needs: int, free: int) -> None:
    demand_equal((needs, free), (job.procs, min(world.free(), world.unclaimed())), "needs, free")
    demand(needs > free)


@reads(k.MachineGoesDown, "could end as late as {t} > maintenance of the machine at {t}")
def _(world: World, job: Work, ends: float, at: float) -> None:
    demand_equal(at, world.closes())
    demand(ends > at)
    demand(abs(ends - world.now - job.estimate * world.rules["mpl"]) < 1e-6)


@reads(k.MachineGoesDown, "would end at {t} > maintenance of the machine at {t}")
def _(world: World, job: Work, ends: float, at: float) -> None:
    announced = [outage.begins for outage in world.outages if outage.announced and outage.begins > world.now]
    demand_equal(at, min(announced))
    demand(ends > at)
    demand(abs(ends - (world.now + job.estimate - world.progress(job.rank))) < 1e-6)


@reads(k.WouldDelay, "needs {n} > {n} extra and would end at {t} > {j}'s start at {t}")
def _(world: World, job: Work, needs: int, extra: int, ends: float, head: str, shadow: float) -> None:
    first = head_of(world)
    at, free = world.room_of(first)
    demand_equal(
        (needs, extra, ends, head, shadow), (job.procs, free - first.procs, world.now + job.estimate, first.name, at)
    )
    demand(needs > extra)
    demand(ends > shadow + 1e-6)


@reads(k.PredictedToDelay, "needs {n} > {n} extra and is predicted to end at {t} > {j}'s start at {t}")
def _(world: World, job: Work, needs: int, extra: int, ends: float, head: str, shadow: float) -> None:
    first = head_of(world)
    at, free = shadow_of(world, first)
    lasts = predicted(world, job)
    demand_equal((needs, extra, ends, head, shadow), (job.procs, free - first.procs, world.now + lasts, first.name, at))
    demand(needs > extra)
    demand(ends > shadow + 1e-6)


@reads(
    k.BeyondLookahead, "the policy considers only {n} job behind {j}", "the policy considers only {n} jobs behind {j}"
)
def _(world: World, job: Work, window: int, head: str) -> None:
    found = passing(world, head_of(world))
    demand_equal((window, head), (world.rules["window"], head_of(world).name))
    demand(job.rank not in found.seen, "it was looked at")
    demand(job.procs <= world.free(), "it does not fit")


@reads(k.PlannedLater, "needs {n}, {n} free now, but {n} stay(s) free for its estimate of {s} only from {t}")
def _(world: World, job: Work, needs: int, free: int, stay: int, long: Lasts, at: float) -> None:
    demand_equal(stay, job.procs)
    needs_of(world, job, needs, free)
    demand(needs <= free)
    demand(long.is_about(job.estimate))
    demand_equal(at, slots_of_pass(world)[job.rank])


@reads(k.WindowCloses, "would end at {t} > end of {j}'s window at {t}")
def _(world: World, job: Work, ends: float, head: str, closes: float) -> None:
    first = head_of(world)
    demand_equal((ends, head), (world.now + job.estimate, first.name))
    demand(abs(closes - window_closes(world, first)) < 1e-6)
    demand(ends > closes + 1e-6)


@reads(k.BreaksBound, "would delay {j}'s start to {t} > its latest start {t}")
def _(world: World, job: Work, other: str, start: float, bound: float) -> None:
    placed, rank = others_around(world, job), world.by_name[other].rank
    demand_equal((start, bound), (placed.starts[rank], bounds_of(world)[rank]))
    demand(start > bound + 1e-6)
    if world.rules.name == "shadow":
        demand(rank not in others_around(world, None).late, "past its bound already")


@reads(k.NotYet, "its recorded start is {t}")
def _(world: World, job: Work, recorded: float) -> None:
    demand_equal(recorded, job.recorded)
    demand(recorded > world.now + 1e-6)


@reads(k.WaitsForReserved, "its user reserved its start for {t}")
def _(world: World, job: Work, at: float) -> None:
    demand_equal(at, world.granted[job.rank])
    demand(at > world.now)
    demand(job.reserve is not None and at >= job.reserve)


@reads(k.TouchesReservation, "would end at {t} and take processors reserved for {j} from {t} on")
def _(world: World, job: Work, ends: float, other: str, at: float) -> None:
    rank = world.by_name[other].rank
    plan = world.planned[rank]
    demand_equal((ends, at), (world.now + job.estimate, plan.at))
    without = [*world.slots(rank), Slot(world.now, ends, job.procs)]
    demand(not has_room(world.procs, world.jobs[rank].procs, max(at, world.now), plan.lasts, without), "not in the way")
    in_time = [Slot(*slot) for slot in world.slots(rank)]
    demand(has_room(world.procs, world.jobs[rank].procs, max(at, world.now), plan.lasts, in_time), "nor is it anybody")
