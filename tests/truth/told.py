"""Check the sentences and numbers with which Why explains a job against the recomputed state after each step."""

from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from math import inf
from typing import Any, NamedTuple

from sim.decisions.decisions import Keep
from sim.decisions.reasons_to_wait import RoomUnseen
from sim.decisions.sentences import say, why
from sim.engine.snapshot import Queued
from sim.why import facts as f
from sim.why.evidence import Evidence
from sim.why.facts import fact_row
from tests.truth import rows
from tests.truth.peers import EASIES, shadow_of
from tests.truth.preempt import taken_and_gone
from tests.truth.queues import starts_of
from tests.truth.rows import Rows
from tests.truth.space import first_unfit
from tests.truth.words import (
    Lasts,
    Names,
    Template,
    UntrueError,
    demand,
    demand_equal,
    exactly,
    matched,
    read_aloud,
    reads,
    tried,
    whole,
)
from tests.truth.world import Plan, Slot, Work, World, has_room

NEEDS, UNSEEN = ("needs {n} > {n} free", "needs {n}, {n} free"), " and the policy has not reconsidered it"


class Pass(NamedTuple):
    """A later arrival that started while the job waited; `stood_before`: it was ahead in the queue's order."""

    time: float
    rank: int
    stood_before: bool
    in_the_way_since: float | None = inf
    """Time from which it held processors that the job lacked; inf if it never did, None in a matrix"""

    @property
    def is_in_the_way(self) -> bool:
        return self.in_the_way_since is not None and self.in_the_way_since < inf


def in_the_way(passes: Collection[Pass]) -> int | None:
    """Return how many of these jobs held processors that the passed job needed; None if one of them was in a matrix."""
    return None if any(each.in_the_way_since is None for each in passes) else sum(each.is_in_the_way for each in passes)


class After:
    """The recomputed state after a step, and the planned starts after the step before (`was`), for comparisons."""

    def __init__(
        self, world: World, decisions: tuple[Any, ...], was: dict[int, float], passed: Mapping[int, dict[int, Pass]]
    ) -> None:
        self.world, self.decisions, self.was, self.passed = world, decisions, was, passed
        self.planned = planned_now(world)


# Plans after a pass
def planned_now(world: World) -> dict[int, Plan]:
    """Return all planned starts, by rank, recomputed by the policy's rule from running jobs and reservations."""
    turning: Rows | None = world.memo_rows
    waiting = {rank: plan for rank, plan in world.planned.items() if rank in world.waiting}
    granted = {rank: Plan(at, world.jobs[rank].estimate) for rank, at in world.granted.items()}
    if turning is not None:
        found = {r: Plan(at, world.jobs[r].estimate) for r, (_, at) in turning.planned.items() if r in world.waiting}
        return granted | found
    if world.rules.name == "multiqueue":
        pivots = {rank: Plan(at, world.jobs[rank].estimate) for rank, at in starts_of(world).items()}
        return waiting | pivots
    if world.rules.keeps:
        return waiting | granted
    return granted | {rank: Plan(at, world.jobs[rank].estimate) for rank, at in anew(world, world.slots()).items()}


def heads(world: World) -> list[Work]:
    """Return the jobs for which the policy plans a start in each pass, in order."""
    name, line = world.rules.name, world.line()
    if name == "replan":
        return line
    if name == "shadow":
        return [job for job in (first_unfit(world),) if job is not None]
    if name in ("easy", *EASIES):
        return line[: world.rules.get("depth", 1)]
    return []


def anew(
    world: World, slots: list[Slot], without: int | None = None, order: list[Work] | None = None
) -> dict[int, float]:
    """Return the starts, by rank, planned in this pass around `slots`: of `order` (None: all), but not of `without`."""
    starts, slots = dict[int, float](), list(slots)
    if world.rules.name == "easy++" and order is None:
        return {job.rank: shadow_of(world, job)[0] for job in heads(world) if job.rank != without}
    is_head = world.rules.name in ("shadow", *EASIES) or (world.rules.name == "easy" and world.rules["depth"] == 1)
    for job in heads(world) if order is None else order:
        if job.rank == without:
            continue
        if is_head:  # counts ends and known outages, but no reservations
            missing = world.missing()
            slots = [slot for slot in slots if slot.start == world.now or slot in missing]
        at = starts[job.rank] = world.earliest(job.procs, job.estimate, slots)
        slots.append(Slot(at, at + job.estimate, job.procs))
    return starts


# Checks of sentences
def read_evidence(after: After, found: Evidence, decided: tuple[Any, ...]) -> Iterator[UntrueError]:
    """Yield an error for each false sentence or number in the explanation `found`; it may quote `decided`."""
    job = after.world.jobs[found.job.rank]
    said = {f"{say(decision, exactly)}." for decision in decided}
    told: list[tuple[type, str]] = [(Evidence, clause) for clause in found.clauses if clause not in said]
    told += [(type(fact), ": ".join(fact_row(fact, exactly))) for fact in found.facts]
    for kind, sentence in told:
        yield from tried(kind, sentence, after, job, found)


def kept_of(after: After, job: Work) -> Any:
    """Return the last reason that the policy gave in this step for keeping the job waiting, or None."""
    found = [d.because for d in after.decisions if isinstance(d, Keep) and d.job.rank == job.rank]
    return found[-1] if found else None


def line_of(world: World, job: Work, has_left: bool = False) -> list[Work]:
    """Return the jobs of the queue in which the job waits, or which it `has_left`, in order; empty if it has none."""
    passed_over, world.passed_over = world.passed_over, set()
    line = sorted([*world.line(), job], key=world.place) if has_left else world.line()
    world.passed_over = passed_over
    if job not in line:
        return []
    if world.rules.name == "multiqueue":
        line = [other for other in line if world.rules.class_of(other) == world.rules.class_of(job)]
    return line


@reads(Evidence, "{j} has waited {s}: {any}.")
def _(after: After, job: Work, found: Evidence, name: str, waited: Lasts, obstacle: str) -> None:
    demand_equal(name, job.name)
    due = job.submit if job.reserve is None else max(job.submit, job.reserve)
    demand(waited.is_about(max(0, after.world.now - due)))
    read_obstacle(after, job, found, obstacle)


@reads(Evidence, "{j} is first in the queue: {any}.", "{j} is first in its queue: {any}.")
def _(after: After, job: Work, found: Evidence, name: str, obstacle: str) -> None:
    demand_equal(name, job.name)
    line = line_of(after.world, job)
    demand(bool(line) and line[0] is job, f"the queue is {[other.name for other in line]}")
    read_obstacle(after, job, found, obstacle)


class Obstacle:
    """Kind of sentence: why a job waits, found by the program because the policy gave no reason."""


def read_obstacle(after: After, job: Work, found: Evidence, told: str) -> None:
    because = kept_of(after, job)
    if because is not None:
        said = why(because, found.job, exactly)
        if told != said:
            read_aloud(Obstacle, told, after, job, said)
        return
    read_aloud(RoomUnseen if told.endswith(UNSEEN) else Obstacle, told, after, job, "")


@reads(Obstacle, "{any}; {n} free after this step's decisions")
def _(after: After, job: Work, said: str, told: str, free: int) -> None:
    demand_equal(told, said)
    demand_equal(free, after.world.free_set().bit_count())
    then = Template("needs {n}, {n} free{any}").read(told) or Template("needs {n} > {n} free{any}").read(told)
    demand(then is None or then[1] != free, "it is said twice")


@reads(Obstacle, *(f"{needs}, and the policy stopped before considering it" for needs in NEEDS))
def _(after: After, job: Work, said: str, needs: int, free: int) -> None:
    not_considered(after, job, needs, free)
    demand(not any(isinstance(d, Keep) for d in after.decisions))


@reads(Obstacle, *(f"{needs}, and the policy stopped at {{j}}" for needs in NEEDS))
def _(after: After, job: Work, said: str, needs: int, free: int, last: str) -> None:
    not_considered(after, job, needs, free)
    stops = is_stopped_by(after)
    demand_equal(last, None if stops is None else stops.name, "at whom it stops")
    line = after.world.line()
    demand(stops not in line or line.index(stops) < line.index(job), "it stands behind it")


def is_stopped_by(after: After) -> Work | None:
    """Return the last job, in queue order, that the policy considered and kept waiting; None if all started."""
    world, line = after.world, after.world.line()
    kept = [world.jobs[d.job.rank] for d in after.decisions if isinstance(d, Keep)]
    return next((job for job in reversed(kept) if job.rank in world.aside or job in line), None)


def not_considered(after: After, job: Work, needs: int, free: int) -> None:
    world = after.world
    if world.memo_rows is None:
        true = world.free()
    else:
        there = [world.size() - taken_at_home(world, row).bit_count() for row in world.memo_rows.rows]
        true = max(there, default=world.size())
    demand_equal((needs, free), (job.procs, true), "needs, free")
    demand(job.rank not in after.planned)


@reads(RoomUnseen, f"needs {{n}}, {{n}} free and would fit, but it is planned for {{t}}{UNSEEN}")
def _(after: After, job: Work, said: str, needs: int, free: int, at: float) -> None:
    demand_equal((needs, free), (job.procs, after.world.free()), "needs, free")
    demand_equal(at, after.planned[job.rank].at)
    demand(has_room(after.world.procs, job.procs, after.world.now, job.estimate, others(after, job)), "there is none")


@reads(Obstacle, "no row has room for it earlier; row {n} has then")
def _(after: After, job: Work, said: str, row: int) -> None:
    demand_equal(row, after.world.memo_rows.planned[job.rank][0])


@reads(Obstacle, "needs {n} > {n} free")
def _(after: After, job: Work, said: str, needs: int, free: int) -> None:
    demand_equal((needs, free), (job.procs, after.world.free_set().bit_count()), "needs, free")
    demand(needs > after.world.free(), "there is room")


@reads(Obstacle, *(f"{needs}, {{n}} of them kept for {{j}}" for needs in NEEDS))
def _(after: After, job: Work, said: str, needs: int, free: int, kept: int, whom: str) -> None:
    world = after.world
    demand_equal((needs, free), (job.procs, world.free_set().bit_count()), "needs, free")
    demand_equal(kept, (world.kept() & world.free_set()).bit_count())
    demand_equal(whom, None if world.awaited is None else world.jobs[world.awaited].name)
    demand(needs > world.free(), "there is room")


def goes_down(after: After, job: Work, clock: float | None = None) -> bool:
    """Return True if the job, started now (or at `clock`), would still run when maintenance begins."""
    world, planned = after.world, after.planned.get(job.rank)
    if world.memo_rows is not None or job.rank in world.granted:
        return False
    begins = world.now if clock is None else clock
    return begins + (job.estimate if planned is None else planned.lasts) > world.closes() + 1e-6


@reads(Obstacle, "would end at {t} > maintenance of the machine at {t}")
def _(after: After, job: Work, said: str, ends: float, at: float) -> None:
    demand_equal((ends, at), (after.world.now + after.planned[job.rank].lasts, after.world.closes()), "ends, at")
    demand(goes_down(after, job), "it is over before")
    demand(job.procs <= after.world.free(), "there is no room")


@reads(Obstacle, "needs {n}, {n} free now, but {n} stay free for its estimate of {s} only from {t}")
@reads(Obstacle, "needs {n}, {n} free now, but {n} stays free for its estimate of {s} only from {t}")
def _(after: After, job: Work, said: str, needs: int, free: int, stay: int, long: Lasts, at: float) -> None:
    demand_equal((needs, free, stay), (job.procs, after.world.free(), job.procs), "needs, free, stay")
    demand(needs <= free)
    demand(long.is_about(job.estimate))
    demand_equal(at, after.planned[job.rank].at)
    demand(
        not has_room(after.world.procs, job.procs, after.world.now, job.estimate, others(after, job)), "there is room"
    )
    demand(not goes_down(after, job), "the machine goes down before")


def others(after: After, job: Work) -> list[Slot]:
    """Return the processors that the job cannot have: unavailable, of running jobs, or of other jobs' plans."""
    world = after.world
    running = [*world.missing(), *(Slot(world.now, end, procs) for end, procs in world.ends())]
    return running + [
        Slot(max(plan.at, world.now), max(plan.at, world.now) + plan.lasts, world.jobs[rank].procs)
        for rank, plan in after.planned.items()
        if rank != job.rank
    ]


@reads(Evidence, "Planned for {t}.")
def _(after: After, job: Work, found: Evidence, at: float) -> None:
    is_planned(after, job, at)


def is_planned(after: After, job: Work, at: float) -> None:
    plan = after.planned.get(job.rank)
    demand(plan is not None and abs(plan.at - at) < 1e-6, f"planned for {plan}")


@reads(Evidence, "{js} will have ended by then.")
def _(after: After, job: Work, found: Evidence, names: Names) -> None:
    assert isinstance(found.entry, Queued)
    at = found.entry.planned
    demand(at is not None)
    rows = [fact.row for fact in found.facts if isinstance(fact, f.Enough)]
    are_enough(after, job, names, at or 0, rows[0])


def are_enough(after: After, job: Work, said: Names, at: float, row: int | None) -> None:
    """Check that the named jobs end by `at` and then leave enough processors; `row`: matrix row or None."""
    world = after.world
    ends = ends_in(world, row)
    free = world.free_set().bit_count()
    if row is not None:
        turning = world.memo_rows
        free = world.size() - sum(turning.columns[r].bit_count() for r in turning.row(row).home)
    demand_equal(max(ends[world.by_name[name].rank][0] for name in said[0]) <= at, True)
    gone = sorted(ends, key=lambda rank: (ends[rank][0], rank))
    found = []
    while free < job.procs:
        found.append(gone.pop(0))
        free += ends[found[-1]][1]
    demand_equal(len(found), len(said[0]) + said[1], "how many must end")
    demand_equal([world.jobs[rank].name for rank in found][: len(said[0])], said[0])
    demand(abs(ends[found[-1]][0] - at) < 1e-6, "enough are free at another time")


def ends_in(world: World, row: int | None) -> dict[int, tuple[float, int]]:
    """Return rank -> (expected end, processors) of the running jobs; with `row`, of the jobs of that row."""
    if row is None:
        return {rank: (held.ends, held.mask.bit_count()) for rank, held in world.running.items()}
    turning = world.memo_rows
    return {r: (finish(world, r), turning.columns[r].bit_count()) for r in turning.row(row).home}


def finish(world: World, rank: int) -> float:
    """Return when a job in the matrix would end by its estimate if no other job came or left; computed turn by turn."""
    cache = world.__dict__.setdefault("finishes", {})
    key = (world.now, rank)
    if key not in cache:
        if len(cache) > 200:
            cache.clear()
        cache[key] = _finish(world, rank)
    found: float = cache[key]
    return found


def _finish(world: World, rank: int) -> float:
    turning: Rows = deepcopy(world.memo_rows)
    needs = world.jobs[rank].estimate - turning.ran[rank] + turning.stall[rank]
    turning.ran[rank], turning.stall[rank] = 0.0, 0.0
    runs = [inf] * len(world.jobs)
    while True:
        was, since = turning.ran[rank], turning.since
        assert turning.on_turn is not None
        if len(turning.order) == 1:
            return since + needs - was
        to = turning.turn_began + turning.slice
        turning.elapse(to, runs)
        if turning.ran[rank] >= needs - 1e-9:
            return to - (turning.ran[rank] - needs)


@reads(Evidence, "{n} job(s) passed it{any}.")
def _(after: After, job: Work, found: Evidence, many: int, way: str) -> None:
    have_passed(after, job, many, way)


def have_passed(after: After, job: Work, many: int, way: str) -> None:
    """Check how many jobs passed the job, and how many of them held processors that it needed."""
    passes: Collection[Pass] = after.passed.get(job.rank, {}).values()
    demand_equal(many, len(passes), "passed")
    told = matched(r"|, (?:which (held|did not hold)|(none|all|[\d,]+) of which held) processors it needed", way)
    counted = {"": 1 if told[1] == "held" else 0, "none": 0, "all": many}.get(told[2] or "")
    said = whole(told[2]) if counted is None else counted
    demand_equal(said if way else None, in_the_way(passes), "in its way")


@reads(Evidence, "{n} job is ahead of it in the queue.", "{n} job is ahead of it in its queue.")
@reads(Evidence, "{n} jobs are ahead of it in the queue.", "{n} jobs are ahead of it in its queue.")
def _(after: After, job: Work, found: Evidence, many: int) -> None:
    line = line_of(after.world, job)
    demand(job in line, "it stands in no queue")
    demand_equal(many, line.index(job), "before it")


# Suspended
@reads(Evidence, "{j} has been suspended for {s}, after {s} of running.")
def _(after: After, job: Work, found: Evidence, name: str, since: Lasts, ran: Lasts) -> None:
    demand_equal(name, job.name)
    demand(since.is_about(after.world.now - after.world.aside[job.rank].since))
    demand(ran.is_about(after.world.ran[job.rank]))


@reads(Evidence, "{js} run(s) on its processors, until {t} at most.")
def _(after: After, job: Work, found: Evidence, said: Names, until: float) -> None:
    sitters_are(after, job, said, until)


def sitters_are(after: After, job: Work, said: Names, until: float | None, row: int | None = None) -> None:
    world, mask = after.world, after.world.aside[job.rank].mask
    if world.memo_rows is None:
        ends = {rank: held.ends for rank, held in world.running.items() if held.mask & mask}
    else:
        ends = {}
        for each in world.memo_rows.rows:
            there = {r: finish(world, r) for r in each.home if world.memo_rows.columns[r] & mask}
            if not ends or max(there.values()) < max(ends.values()):
                ends = there
    order = sorted(ends, key=lambda rank: (ends[rank], rank))
    demand_equal([world.jobs[rank].name for rank in order][: len(said[0])], said[0])
    demand_equal(len(order), len(said[0]) + said[1])
    demand(until is None or abs(until - max(ends.values())) < 1e-6, max(ends.values()))


@reads(Evidence, "Its processors are free.")
def _(after: After, job: Work, found: Evidence) -> None:
    world, mask = after.world, after.world.aside[job.rank].mask
    if world.memo_rows is None:
        demand(not mask & ~world.free_set())
    else:
        demand(any(not mask & taken_at_home(world, row) for row in world.memo_rows.rows) or not world.memo_rows.rows)
        demand(not mask & world.absent(world.now))


def taken_at_home(world: World, row: rows.Row) -> int:
    mask = 0
    for rank in row.home:
        mask |= world.memo_rows.columns[rank]
    return mask


@reads(
    Evidence,
    *("Its own processor is down.", "Its own {n} processor(s) are all down."),
    *("{n} of its own {n} processor(s) is down.", "{n} of its own {n} processor(s) are down."),
)
def _(after: After, job: Work, found: Evidence, gone: int = 1, own: int | None = None) -> None:
    demand_equal((gone, own or gone), (taken_and_gone(after.world, job)[1], job.procs), "gone, own")
    demand(gone > 0)


@reads(Evidence, "They are kept free for it: it is the next job to resume.")
def _(after: After, job: Work, found: Evidence) -> None:
    demand_equal(after.world.awaited, job.rank)


@reads(Evidence, "It has to wait: {any}.")
def _(after: After, job: Work, found: Evidence, told: str) -> None:
    own = [d.because for d in after.decisions if type(d).__name__ in ("Keep", "Suspend") and d.job.rank == job.rank]
    demand(told in [why(because, found.job, exactly) for because in own], "nobody said so")
    taken = Template("{n} of its own {n} processor(s) are taken").read(told)
    demand(taken is None or taken[0] > 0)


# Running
@reads(
    Evidence,
    "{j} runs on {n} processor(s) since {t}, until {t} at most.",
    "{j} runs speculatively on {n} processor(s) since {t}, until {t} at most.",
    "{j} is suspending on {n} processor(s) since {t}, until {t} at most.",
    "{j} is resuming on {n} processor(s) since {t}, until {t} at most.",
)
def _(after: After, job: Work, found: Evidence, name: str, procs: int, since: float, until: float) -> None:
    demand_equal((name, procs), (job.name, job.procs))
    held = after.world.running[job.rank]
    demand_equal((since, until), (held.since, held.ends), "since, until")


@reads(Evidence, "{j} takes turns on {n} processor(s) since {t}, until {t} if the rows do not change.")
def _(after: After, job: Work, found: Evidence, name: str, procs: int, since: float, until: float) -> None:
    demand_equal((name, procs, since), (job.name, job.procs, after.world.first_start[job.rank]))
    demand(abs(until - finish(after.world, job.rank)) < 1e-6, finish(after.world, job.rank))


@reads(Evidence, "{j} has not run yet: its row (row {n}) has not had a turn.")
def _(after: After, job: Work, found: Evidence, name: str, row: int) -> None:
    demand_equal(name, job.name)
    demand(job.rank in after.world.memo_rows.new)
    demand_equal(row, after.world.memo_rows.home_of(job.rank).number)


@reads(Evidence, "It has run for {s} of at most {s}.")
def _(after: After, job: Work, found: Evidence, ran: Lasts, most: Lasts) -> None:
    has_run(after, job, found, ran, most)


def has_run(after: After, job: Work, found: Evidence, ran: Lasts, most: Lasts) -> None:
    demand(most.is_about(job.estimate))
    turning = after.world.memo_rows
    true = after.world.progress(job.rank) if turning is None or job.rank not in turning.ran else turning.ran[job.rank]
    demand(ran.is_about(true), true)
