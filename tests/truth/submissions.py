"""Submit times of jobs that wait for other jobs, recomputed from starts and ends; and random conditions for them."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import nan
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
    """Return random conditions for two in five of the jobs: think times (`--feedback`) or dependencies."""
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


def due(workload: Workload, rank: int, start: Time, end: Time) -> float | None:
    """Return the submit time of a job, as far as starts and ends of other jobs tell it; None before."""
    own, follow = float(workload.submit[rank]), workload.follows[rank] if workload.follows else None
    if follow is None:
        return own
    known = [time for time in (_met(workload, one, start, end) for one in follow.after) if time == time]
    if not known or (len(known) < len(follow.after) and not follow.is_any):
        return None
    last = min(known) if follow.is_any else max(known)
    return max(own, last) if follow.think is None else last + follow.think


def _met(workload: Workload, one: After, start: Time, end: Time) -> float:
    """Return the time at which a part of a condition becomes true; NaN if that is not known."""
    if one.outcome == "start":
        began = start(one.job)
        return nan if began is None else began + one.delay
    ended, fails = end(one.job), bool(workload.killed[one.job]) or int(workload.status[one.job]) in FAILED
    is_met = {"ok": not fails, "not ok": fails}.get(one.outcome, True)
    return nan if ended is None or not is_met else ended
