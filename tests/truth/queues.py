"""Check the reasons of multiqueue backfilling (Lawson & Smirni), its partitions, speculative runs and reservations."""

from sim.decisions import reasons as r
from sim.decisions import reasons_to_wait as k
from tests.truth.space import AT, needs_of
from tests.truth.words import Lasts, demand, demand_equal, demanded, reads
from tests.truth.world import Slot, Work, World, has_room, taken_at


def pivots_of(world: World, before: int | None = None) -> dict[int, Work]:
    """Return for each partition its pivot, the first job of its queue. With `before`: only of the jobs with lower
    ranks."""
    found: dict[int, Work] = {}
    for job in world.line():
        if before is None or job.rank < before:
            found.setdefault(world.rules.class_of(job), job)
    return found


def in_turn(pivots: dict[int, Work]) -> list[Work]:
    return sorted(pivots.values(), key=lambda job: (not job.high, job.rank))


def placed(world: World, pivots: list[Work], slots: list[Slot]) -> dict[int, float]:
    """Return the planned starts of the pivots, planned one after another around `slots`, to which they are added."""
    starts = {}
    for job in pivots:
        at = starts[job.rank] = world.earliest(job.procs, job.estimate, slots)
        slots.append(Slot(at, at + job.estimate, job.procs))
    return starts


def starts_of(world: World, before: int | None = None) -> dict[int, float]:
    return placed(world, in_turn(pivots_of(world, before)), world.slots())


def idle_in(world: World, partition: int) -> int:
    return (world.owners[partition] & world.free_set() & ~world.kept()).bit_count()


def is_delayed(world: World, beside: Slot, without: int | None = None, before: int | None = None) -> bool:
    """Return True if the slot `beside` would delay a pivot or a reservation; `without` is a job whose own plan does not
    count."""
    turn = in_turn(pivots_of(world, before))
    slots = [*world.slots(without), beside]
    if not has_room(world.procs, beside.procs, beside.start, beside.end - beside.start, slots[:-1]):
        return True
    was, then = placed(world, turn, world.slots()), placed(world, turn, slots)
    return any(then[rank] > was[rank] for rank in was)


# Why a job starts
@reads(r.PivotDue, "first in partition {n}'s queue and its planned start is now")
def _(world: World, job: Work, partition: int) -> None:
    pivot_due(world, job, partition, 0)


@reads(r.PivotDue, "first in partition {n}'s queue and its planned start is now, {n} from other partitions")
def pivot_due(world: World, job: Work, partition: int, borrowed: int) -> None:
    demand_equal(partition, world.rules.class_of(job), "partition")
    demand_equal(pivots_of(world)[partition].name, job.name, "the pivot")
    demand_equal(starts_of(world)[job.rank], world.now, "its planned start")
    demand_equal(borrowed, world.borrowed.get(job.rank, 0), "borrowed")


@reads(
    r.EndsBeforePivot,
    "ends at {t}, by the start of the pivot {j} (first in its queue) at {t}; needs {n}, {n} idle in its partition",
)
def _(world: World, job: Work, ends: float, pivot: str, start: float, needs: int, idle: int) -> None:
    its_pivot(world, job, pivot, start, needs, idle)
    demand_equal(ends, world.now + job.estimate)
    demand(ends <= start + 1e-6)


def its_pivot(world: World, job: Work, pivot: str, start: float, needs: int, idle: int) -> Work:
    first = pivots_of(world)[world.rules.class_of(job)]
    demand_equal((pivot, start), (first.name, starts_of(world)[first.rank]), "the pivot, its start")
    demand_equal((needs, idle), (job.procs, idle_in(world, world.rules.class_of(job))), "needs, idle")
    demand(needs <= idle)
    return first


@reads(
    r.SparesPivot,
    "needs {n}, {n} idle in its partition, and the pivot {j} (first in its queue) leaves {n} extra at {t}",
)
def _(world: World, job: Work, needs: int, idle: int, pivot: str, extra: int, start: float) -> None:
    first = its_pivot(world, job, pivot, start, needs, idle)
    kind = world.rules.class_of(job)
    held = [(end, procs) for end, procs, rank in world.holds() if world.rules.class_of(world.jobs[rank]) == kind]
    freed = sum(procs for end, procs in held if end <= start + 1e-6)
    demand_equal(extra, max(0, idle + freed - first.procs))
    demand(needs <= extra)


@reads(r.DelaysNoPivot, "delays no queue's pivot (its first job); needs {n}, {n} idle in its partition")
def _(world: World, job: Work, needs: int, idle: int) -> None:
    delays_no_pivot(world, job, needs, idle, 0)


@reads(
    r.DelaysNoPivot,
    "delays no queue's pivot (its first job); needs {n}, {n} idle in its partition, {n} from other partitions",
)
def delays_no_pivot(world: World, job: Work, needs: int, idle: int, borrowed: int) -> None:
    now_idle, lent = idle_in(world, world.rules.class_of(job)), world.borrowed.get(job.rank, 0)
    demand_equal((needs, idle, borrowed), (job.procs, now_idle - lent, lent), "needs, idle, borrowed")
    demand(not is_delayed(world, Slot(world.now, world.now + job.estimate, job.procs)), "it delays a pivot")


@reads(r.TrialDue, "the planned start of its speculative run (at most {s}) is now")
def _(world: World, job: Work, limit: Lasts) -> None:
    demand(limit.is_about(world.limit_of(job.rank)))
    demand(world.planned[job.rank].at <= world.now)


@reads(r.TrialEarly, "its speculative run (at most {s}), planned for {t}, already fits next to everything planned")
def _(world: World, job: Work, limit: Lasts, reserved: float) -> None:
    demand(limit.is_about(world.limit_of(job.rank)))
    demand_equal(reserved, world.planned[job.rank].at)
    demand(reserved > world.now)
    demand(has_room_beside(world, job, world.now), "there is no room")


def has_room_beside(world: World, job: Work, at: float) -> bool:
    starts = starts_of(world)
    planned = [Slot(s, s + world.jobs[rank].estimate, world.jobs[rank].procs) for rank, s in starts.items()]
    return has_room(world.procs, job.procs, at, world.limit_of(job.rank), [*world.slots(job.rank), *planned])


# Why a start is planned
@reads(r.AskedFor, "the earliest possible start from {t} on, the time its user requested")
def _(world: World, job: Work, wanted: float) -> None:
    demand_equal(wanted, job.reserve)


def asked_for(world: World, job: Work, at: float) -> None:
    after = max(world.now, job.reserve or 0)
    falling = world.memo.get("falling", {})  # a failure replans them one after another
    behind = [r for r in falling if job.rank in falling and (falling[r], r) > (falling[job.rank], job.rank)]
    demand_equal(at, world.earliest(job.procs, job.estimate, world.slots(job.rank, *behind), after))


@reads(r.PlannedTrial, "a speculative run (at most {s}) comes first; at that time it delays no job")
def _(world: World, job: Work, limit: Lasts) -> None:
    demand(limit.is_about(world.limit_of(job.rank)))


def planned_trial(world: World, job: Work, at: float) -> None:
    long, slots = world.limit_of(job.rank), world.slots()
    reserving = [other for other in map(world.jobs.__getitem__, world.coming) if is_reserving(world, other)]
    before = None if len(reserving) == len(world.coming) else job.rank
    placed(world, in_turn(pivots_of(world, before)), slots)
    demand_equal(at, world.earliest(job.procs, long, slots))
    demand(not is_delayed(world, Slot(at, at + long, job.procs), before=before), "it delays a pivot")


def is_reserving(world: World, job: Work) -> bool:
    return job.reserve is not None or world.rules.is_tried(job)


AT[r.AskedFor] = asked_for
AT[r.PlannedTrial] = planned_trial


# Why a job waits
@reads(
    k.PivotLater,
    "first in its partition's queue, planned for {t}: needs {n}, {n} free now but too few once {j} starts at {t}",
)
def _(world: World, job: Work, at: float, needs: int, free: int, other: str, then: float) -> None:
    needs_of(world, job, needs, free)
    demand_equal(pivots_of(world)[world.rules.class_of(job)].name, job.name, "the pivot")
    starts = starts_of(world)
    demand_equal(at, starts[job.rank])
    turn = in_turn(pivots_of(world))
    before = {pivot.rank: starts[pivot.rank] for pivot in turn[: turn.index(job)]}
    are_too_few(world, job, job.estimate, before, other, then)


def are_too_few(world: World, job: Work, long: float, pivots: dict[int, float], other: str, then: float) -> None:
    """Check that, if the job ran from now on for `long` seconds, processors would first be too few at `then`, when
    `other` is planned to start."""
    slots = world.slots(job.rank)
    slots += [Slot(s, s + world.jobs[rank].estimate, world.jobs[rank].procs) for rank, s in pivots.items()]
    moments = sorted({world.now, *(slot.start for slot in slots if world.now < slot.start < world.now + long)})
    short = next(at for at in moments if taken_at(slots, at) + job.procs > world.procs)
    demand_equal(then, short, "when there are too few")
    planned = {rank: max(plan.at, world.now) for rank, plan in world.planned.items()} | pivots
    demand_equal(planned[world.by_name[other].rank], short)


@reads(k.WouldDelayPivot, "would end at {t} and push the pivot {j} (first in its queue) from {t} to {t}")
def _(world: World, job: Work, ends: float, pivot: str, start: float, later: float) -> None:
    demand_equal(ends, world.now + job.estimate)
    turn = in_turn(pivots_of(world))
    was = starts_of(world)
    then = placed(world, turn, [*world.slots(), Slot(world.now, ends, job.procs)])
    first = demanded(
        next((other for other in turn if then[other.rank] > was[other.rank]), None), "it would push nobody"
    )
    demand_equal((pivot, start, later), (first.name, was[first.rank], then[first.rank]))


@reads(
    k.TrialLater,
    "its speculative run (at most {s}) is planned for {t}: needs {n} > {n} free",
    "its speculative run (at most {s}) is planned for {t}: needs {n}, {n} free now but too few once {j} starts at {t}",
    "its speculative run (at most {s}) is planned for {t}: needs {n}, {n} free now but too few once {any} at {t}",
)
def _(
    world: World, job: Work, limit: Lasts, at: float, needs: int, free: int, other: str = "", then: float = 0
) -> None:
    demand(limit.is_about(world.limit_of(job.rank)))
    demand_equal(at, world.planned[job.rank].at)
    needs_of(world, job, needs, free)
    if other == "the machine goes down":
        demand_equal(then, min(outage.begins for outage in world.known() if outage.begins > world.now))
        demand(then < world.now + world.limit_of(job.rank), "it is done by then")
    elif other:
        are_too_few(world, job, world.limit_of(job.rank), starts_of(world), other, then)
    else:
        demand(needs > free, "enough is free, and it does not say what is in the way")
