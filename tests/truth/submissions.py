"""Submit times of jobs that wait for other jobs, recomputed from starts and ends; and random conditions for them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING

from sim.workload.follows import After, Follow, Follows, Outcome
from sim.workload.model import Workload

if TYPE_CHECKING:
    from tests.truth.world import World

OUTCOMES: tuple[Outcome, ...] = ("any", "any", "ok", "not ok", "turn", "start")
FAILED = (0, 5)

Time = Callable[[int], float | None]
"""Function that returns the time of an event of the job with a given rank, None if it has not happened yet"""


def random_follows(lot: random.Random, many: int) -> Follows:
    return tuple(_random_follow(lot, rank) if rank and lot.random() < 0.4 else None for rank in range(many))


def _random_follow(lot: random.Random, rank: int) -> Follow:
    if lot.random() < 0.3:
        return Follow((After(lot.randrange(rank)),), lot.choice([None, 0.0, 1.0, 30.0]))
    before = lot.sample(range(max(0, rank - 8), rank), min(rank, lot.choice([1, 1, 2, 3])))
    kinds = [lot.choice(OUTCOMES) for _ in before]
    after = (After(job, kind, lot.choice([10.0, 60.0]) if kind == "start" else 0.0)
             for job, kind in zip(before, kinds, strict=True))  # fmt: skip
    return Follow(tuple(after), is_any=len(before) > 1 and lot.random() < 0.4)


def admit(world: World) -> None:
    """Add the jobs that are due now to the queue."""
    for rank in range(len(world.jobs)):
        if rank in world.came:
            continue
        at = world.due(rank)
        if at is not None and at <= world.now:
            job = world.jobs[rank] = world.jobs[rank]._replace(submit=at)
            world.by_name[job.name] = job
            world.arrived.append(rank)
            world.usage.see(job.user)
            for ranks in (world.came, world.coming, world.waiting):
                ranks.add(rank)
        elif not world.workload.follows:
            break


NONE_CANCELLED: Mapping[int, float] = MappingProxyType({})


def due(
    workload: Workload, rank: int, start: Time, end: Time, cancelled: Mapping[int, float] = NONE_CANCELLED
) -> float | None:
    """Return the submit time of a job, as far as starts and ends of other jobs tell it; None before. `cancelled` has
    the times at which jobs were cancelled, by rank."""
    if rank in cancelled:
        return cancelled[rank]
    own, follow = float(workload.submit[rank]), workload.follows[rank] if workload.follows else None
    if follow is None:
        return own
    known = [time for time in (_met(workload, one, start, end, cancelled) for one in follow.after) if time == time]
    if not known or (len(known) < len(follow.after) and not follow.is_any):
        return None
    last = min(known) if follow.is_any else max(known)
    return max(own, last) if follow.think is None else last + follow.think


def cancel(world: World, rank: int) -> None:
    """Cancel a job now. If it has not been submitted, that is also its submission. Jobs that waited for its end are
    submitted."""
    world.dropped[rank] = world.now
    if rank not in world.came:
        job = world.jobs[rank] = world.jobs[rank]._replace(submit=world.now)
        world.by_name[job.name] = job
        world.came.add(rank)
    admit(world)


def is_hopeless(world: World, rank: int) -> bool:
    """Return True if the job's condition cannot be met any more."""
    follow = world.workload.follows[rank]
    if follow is None:
        return False
    missed = [_is_missed(world, one) for one in follow.after]
    return all(missed) if follow.is_any else any(missed)


def _is_missed(world: World, one: After) -> bool:
    if one.job in world.dropped:
        return one.outcome == "ok"
    fails = bool(world.workload.killed[one.job]) or int(world.workload.status[one.job]) in FAILED
    return one.job in world.finished and one.outcome == ("ok" if fails else "not ok")


def _met(workload: Workload, one: After, start: Time, end: Time, cancelled: Mapping[int, float]) -> float:
    """Return the time at which a part of a condition becomes true; NaN if that is not known."""
    if one.job in cancelled and (one.outcome != "start" or start(one.job) is None):
        return nan if one.outcome == "ok" else cancelled[one.job]
    if one.outcome == "start":
        began = start(one.job)
        return nan if began is None else began + one.delay
    ended, fails = end(one.job), bool(workload.killed[one.job]) or int(workload.status[one.job]) in FAILED
    is_met = {"ok": not fails, "not ok": fails}.get(one.outcome, True)
    return nan if ended is None or not is_met else ended
