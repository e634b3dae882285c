"""Check the reasons of the policies that suspend jobs (Kettimuthu's) against the recomputed state."""

import re
from math import inf
from typing import Any

from sim.decisions import reasons as r
from sim.decisions import reasons_to_wait as k
from sim.workload.categories import category_of
from tests.truth.words import Lasts, Names, Tenths, UntrueError, demand, demand_equal, reads, whole
from tests.truth.world import Slot, Work, World, has_room, taken_at

NEAR = 1e-9


def suffering(world: World, rank: int) -> float:
    ran = world.progress(rank)
    return (world.now - world.jobs[rank].submit) / ran if ran else inf


def served(world: World) -> list[int]:
    ranks = [rank for rank, held in world.running.items() if held.kind == "run"]
    had = [rank for rank in ranks if world.progress(rank) >= world.rules["slice"] - 1e-6]
    return sorted(had, key=lambda rank: (suffering(world, rank), -rank))


def names_are(world: World, said: Names, ranks: list[int]) -> None:
    told, more = said
    demand_equal(len(told) + more, len(ranks), "how many")
    demand_equal(told, [world.jobs[rank].name for rank in ranks][: len(told)])


# Why a job starts or resumes
@reads(r.OwnFree, "its own processor is free", "its own {n} processor(s) are free")
def _(world: World, job: Work, own: int = 1) -> None:
    demand_equal(own, job.procs)
    demand(not world.aside[job.rank].mask & ~world.free_set())


@reads(r.Preempts, "suspends {js}")
def _(world: World, job: Work, victims: Names) -> None:
    names_are(world, victims, [rank for rank, by in world.suspended_now if by == job.rank])


@reads(r.Claimed, "the jobs suspended for it have released their processors")
def _(world: World, job: Work) -> None:
    victims = world.claims.get(job.rank, {})
    demand(victims, "nobody was suspended for it")
    leaving = {rank: held.since for rank, held in world.running.items() if held.kind == "suspending"}
    demand(not victims.items() & leaving.items())  # a victim suspended twice resumed in between


# Why a job is suspended
@reads(r.ReservationDue, "makes room for {j}, whose start its user had reserved")
def _(world: World, job: Work, by: str) -> None:
    rank, held = world.by_name[by].rank, world.running[job.rank]
    demand(rank in world.granted)
    demand(world.granted[rank] <= world.now or held.ends > world.granted[rank], "it is not in the way")


@reads(r.Outranked, "{j}'s xfactor {x} is at least {x} ({x} times its own {x})")
def _(world: World, job: Work, by: str, theirs: Tenths, least: Tenths, factor: Tenths, own: Tenths) -> None:
    its, mine = world.xfactor(world.by_name[by].rank), world.xfactor(job.rank)
    demand(theirs.is_about(its), its)
    demand(own.is_about(mine), mine)
    demand(float(factor.text) == world.rules["sf"])
    demand(least.is_about(world.rules["sf"] * mine), mine)
    demand(its >= world.rules["sf"] * mine - NEAR)


_MADE_WAY = "makes room for {j}, which has done no work yet: it has used up its slice of {s} and has the"


@reads(
    r.MadeWay,
    f"{_MADE_WAY} lowest instantaneous xfactor, {{x}}",
    f"{_MADE_WAY} {{n}}st lowest instantaneous xfactor, {{x}}",
    f"{_MADE_WAY} {{n}}nd lowest instantaneous xfactor, {{x}}",
    f"{_MADE_WAY} {{n}}rd lowest instantaneous xfactor, {{x}}",
    f"{_MADE_WAY} {{n}}th lowest instantaneous xfactor, {{x}}",
)
def _(world: World, job: Work, by: str, slice: Lasts, *values: Any) -> None:
    place, its = (1, *values)[-2:]
    rank = world.by_name[by].rank
    demand(rank in world.waiting and not world.progress(rank))
    demand(slice.is_about(world.rules["slice"]))
    mine = suffering(world, job.rank)
    demand(its.is_about(mine), mine)
    fellows = [victim for victim, whom in world.suspended_now if whom == rank]
    order = sorted([*fellows, *served(world)], key=lambda other: (suffering(world, other), -other))
    demand_equal(place, order.index(job.rank) + 1, "its place among those who had their slice")


# Why a job waits
@reads(k.WaitsForOwn, "its own processor is taken", "its own {n} processor(s) are all taken")
def _(world: World, job: Work, own: int = 1) -> None:
    waits_for_own(world, job, own, own)


@reads(k.WaitsForOwn, "{n} of its own {n} processor(s) (is) taken")
def waits_for_own(world: World, job: Work, busy: int, own: int) -> None:
    demand_equal(own, job.procs)
    demand_equal((busy, 0), taken_and_gone(world, job), "taken, gone")
    demand(busy > 0, "nobody is there")


def taken_and_gone(world: World, job: Work) -> tuple[int, int]:
    own, gone = world.aside[job.rank].mask, world.absent(world.now)
    return (own & ~gone & ~world.free_set()).bit_count(), (own & gone).bit_count()


_TAKEN = ("", ", {n} is taken", ", {n} are taken")


@reads(k.OwnGone, "its own processor is down", "its own {n} processor(s) are all down")
def _(world: World, job: Work, own: int = 1) -> None:
    demand_equal(own, job.procs)
    demand_equal((0, own), taken_and_gone(world, job), "taken, gone")


@reads(k.OwnGone, *(f"{{n}} of its own {{n}} processor(s) is down{taken}" for taken in _TAKEN))
@reads(k.OwnGone, *(f"{{n}} of its own {{n}} processor(s) are down{taken}" for taken in _TAKEN))
def _(world: World, job: Work, gone: int, own: int, busy: int = 0) -> None:
    demand_equal(own, job.procs)
    demand_equal((busy, gone), taken_and_gone(world, job), "taken, gone")


@reads(k.OwnClaimed, "{n} of its own {n} processor(s) (is) claimed by jobs that suspended other jobs to get them")
def _(world: World, job: Work, claimed: int, own: int) -> None:
    mask, masks = world.aside[job.rank].mask, 0
    for rank in world.claims:
        masks |= world.claim_of(rank)
    demand_equal((claimed, own), ((mask & masks).bit_count(), job.procs))
    demand(claimed > 0 and not mask & ~world.free_set())


@reads(
    k.AwaitsVictims,
    "{js}, suspended for it, still occupies its processors",
    "{js}, suspended for it, still occupy their processors",
)
def _(world: World, job: Work, victims: Names) -> None:
    leaving = suspended_for(world, job)
    names_are(world, victims, leaving)
    demand(leaving, "they have left")


@reads(k.ClaimTaken, "{js} run(s) on processors claimed for it")
def _(world: World, job: Work, others: Names) -> None:
    claimed = world.claim_of(job.rank)
    there = [rank for rank, held in world.running.items() if held.mask & claimed]
    names_are(world, others, there)
    demand(there and not suspended_for(world, job), "who was suspended for it leaves")


def suspended_for(world: World, job: Work) -> list[int]:
    claimed, victims = world.claim_of(job.rank), world.claims[job.rank]
    on_it = [rank for rank, held in world.running.items() if held.mask & claimed]
    return [rank for rank in on_it if rank in victims and world.running[rank].kind == "suspending"]


@reads(k.BeforeOthers, "its own processors are free, but it would end at {t} and {j} is planned on them from {t}")
def _(world: World, job: Work, ends: float, other: str, at: float) -> None:
    rank, own = world.by_name[other].rank, world.aside[job.rank].mask
    demand(not own & ~world.free_set(), "they are not free")
    demand(abs(ends - (world.now + job.estimate - world.ran[job.rank])) < 1e-6)
    if rank == world.awaited:
        demand_equal(at, world.now)
        slots = [*world.slots(), Slot(world.now, ends, job.procs)]
        demand(own & world.kept() or taken_at(slots, world.now) > world.procs, "not in its way")
        return
    plan = world.planned[rank]
    demand_equal(at, max(plan.at, world.now))
    slots = [*world.slots(rank), Slot(world.now, ends, job.procs)]
    demand(not has_room(world.procs, world.jobs[rank].procs, at, plan.lasts, slots), "not in its way")


def outranked(world: World, job: Work, near: float = NEAR) -> list[int]:
    mine = world.xfactor(job.rank)
    ranks = [rank for rank, held in world.running.items() if held.kind == "run"]
    return [rank for rank in ranks if mine >= world.rules["sf"] * world.xfactor(rank) - near]


def is_pinned(world: World, job: Work) -> bool:
    return job.rank in world.aside and world.rules["restart"] == "own"


@reads(k.NoVictims, "too few jobs to suspend: it needs running jobs with an xfactor {x} times smaller than its own {x}")
def _(world: World, job: Work, factor: Tenths, own: Tenths) -> None:
    demand(float(factor.text) == world.rules["sf"])
    demand(own.is_about(world.xfactor(job.rank)), world.xfactor(job.rank))
    small = outranked(world, job, -NEAR)
    if is_pinned(world, job):
        mask = world.aside[job.rank].mask
        sitting = [rank for rank, held in world.running.items() if held.mask & mask]
        demand(any(rank not in small for rank in sitting), "those in its place have")
    else:
        demand(world.unclaimed() + sum(world.jobs[rank].procs for rank in small) < job.procs, "there are enough")


@reads(k.NoVictimAllowed, "of the running jobs with an xfactor {x} times smaller than its own {x}, {any}")
def _(world: World, job: Work, factor: Tenths, own: Tenths, who: str) -> None:
    demand(float(factor.text) == world.rules["sf"])
    demand(own.is_about(world.xfactor(job.rank)), world.xfactor(job.rank))
    said = [
        re.search(rf"([\d,]+) (?:is|are) {why}", who)
        for why in ("more than twice as wide", "protected: (?:its|their) xfactor exceeds the limit")
    ]
    wide, spared = (whole(each[1]) if each else 0 for each in said)
    try:
        are_not_allowed(world, job, outranked(world, job), wide, spared)
    except UntrueError:  # a job right at the limit counts as either
        are_not_allowed(world, job, outranked(world, job, -NEAR), wide, spared)


def are_not_allowed(world: World, job: Work, small: list[int], wide_said: int, spared_said: int) -> None:
    """Check the numbers of jobs in `small` that are too wide to be suspended and, of the others, that are protected;
    the rest must be too few."""
    if is_pinned(world, job):
        small = [rank for rank in small if world.running[rank].mask & world.aside[job.rank].mask]
    wide = [rank for rank in small if world.jobs[rank].procs > 2 * job.procs]
    demand_equal(wide_said, len(wide), "too wide")
    true = [rank for rank in small if is_spared(world, rank) and rank not in wide]
    demand_equal(spared_said, len(true), "spared")
    left = [rank for rank in small if rank not in wide and rank not in true]
    if is_pinned(world, job):
        demand(len(left) < len(small), "all in its place may be suspended")
    else:
        demand(world.unclaimed() + sum(world.jobs[r].procs for r in left) < job.procs, "there are enough")
        demand(world.unclaimed() + sum(world.jobs[r].procs for r in small) >= job.procs, "the xfactors are too close")


@reads(k.TurnOver, "its processors became available only after the policy had considered it in this step")
def _(world: World, job: Work) -> None:
    demand(world.now + job.estimate - world.progress(job.rank) <= world.closes() + 1e-6, "it has no time left")
    small = [rank for rank in outranked(world, job) if world.jobs[rank].procs <= 2 * job.procs]
    small = [rank for rank in small if not is_spared(world, rank)]
    if is_pinned(world, job):
        mask = world.aside[job.rank].mask
        demand(all(rank in small for rank, held in world.running.items() if held.mask & mask))
    else:
        demand(world.unclaimed() + sum(world.jobs[rank].procs for rank in small) >= job.procs)


def is_spared(world: World, rank: int) -> bool:
    """Return True if the job is protected: its xfactor exceeds `limit` times the mean slowdown of the finished jobs of
    its category.

    Jobs that finished under an earlier policy count as well.
    """
    if world.rules.name != "tunable":
        return False
    kind = category_of(world.jobs[rank].estimate, world.jobs[rank].procs)
    known = [
        1 + (world.end_of[r] - world.jobs[r].submit - world.jobs[r].run) / max(world.jobs[r].run, 10)
        for r in world.finished
        if category_of(world.jobs[r].estimate, world.jobs[r].procs) == kind
    ]
    return bool(known) and world.xfactor(rank) > world.rules["limit"] * sum(known) / len(known)


@reads(k.NoSliceOver, "too few running jobs have used up their slice of {s}")
def _(world: World, job: Work, slice: Lasts) -> None:
    demand(slice.is_about(world.rules["slice"]))
    claimed = {victim for victims in world.claims.values() for victim in victims}
    ranks = [rank for rank in served(world) if rank not in claimed]
    demand(world.unclaimed() + sum(world.jobs[rank].procs for rank in ranks) < job.procs, "there are enough")
