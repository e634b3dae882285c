"""Recompute what variants of EASY from other papers decide: which jobs may pass the head, and predicted run times."""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from tests.truth.world import Work, World

EASIES = ("relaxed", "easy++", "lookahead", "greedy")
"""Policies that, like EASY, plan a start only for the first job in the queue, from the expected ends of running
jobs."""
MINUTES = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000)


class Passing(NamedTuple):
    """The jobs that may pass the head in this pass, chosen together before any of them starts."""

    ranks: frozenset[int]
    filled: int
    free: int
    order: str = ""
    seen: frozenset[int] = frozenset()


def in_tail(jobs: list[Work], tail: str) -> list[Work]:
    return jobs if tail == "queue" else sorted(jobs, key=KEYS[tail])


KEYS: dict[str, Callable[[Work], float]] = {
    "sjf": lambda job: job.estimate,
    "ljf": lambda job: -job.estimate,
    "saf": lambda job: job.estimate * job.procs,
    "narrow": lambda job: job.procs,
    "wide": lambda job: -job.procs,
    "latest": lambda job: -job.rank,
}


def passing(world: World, head: Work) -> Passing:
    """Return the jobs that may pass the head; they are chosen once in a pass, before any of them starts."""
    if "passing" not in world.memo:
        others = [job for job in world.line() if world.place(job) > world.place(head) and world.in_time(job)]
        world.memo["passing"] = (_packed if world.rules.name == "lookahead" else _tried)(world, head, others)
    found: Passing = world.memo["passing"]
    return found


def _packed(world: World, head: Work, others: list[Work]) -> Passing:
    """Return the jobs that together fill as many processors as possible. Found by dynamic programming; if several
    choices are equal, earlier jobs are preferred."""
    shadow, then = world.room_of(head)
    free, extra, seen = world.free(), then - head.procs, others[: world.rules["window"]]
    late = [job.procs if world.now + job.estimate > shadow + 1e-6 else 0 for job in seen]
    sums = [{(0, 0)}]
    for job, behind in zip(seen, late, strict=True):
        more = {(all_of + job.procs, of_late + behind) for all_of, of_late in sums[-1]}
        sums.append(sums[-1] | {(a, b) for a, b in more if a <= free and b <= extra})
    left, spare, chosen = free, extra, []
    for place in range(len(seen) - 1, -1, -1):
        without, best = (max(a for a, b in sums[many] if a <= left and b <= spare) for many in (place, place + 1))
        if best > without:
            chosen.append(seen[place])
            left, spare = left - seen[place].procs, spare - late[place]
    ranks = frozenset(job.rank for job in chosen)
    return Passing(ranks, sum(job.procs for job in chosen), free, seen=frozenset(job.rank for job in seen))


def _tried(world: World, head: Work, others: list[Work]) -> Passing:
    shadow, then = world.room_of(head)
    best = Passing(frozenset(), 0, world.free())
    most = -1.0
    for order in ("queue", "latest", "narrow", "sjf", "saf"):
        free, extra, chosen = world.free(), then - head.procs, list[Work]()
        for job in in_tail(others, order):
            ends_before = world.now + job.estimate <= shadow + 1e-6
            if job.procs <= free and (ends_before or job.procs <= extra):
                chosen.append(job)
                free -= job.procs
                extra -= 0 if ends_before else job.procs
        by = world.rules["by"]
        worth = sum({"jobs": 1, "processors": job.procs, "area": job.procs * job.estimate}[by] for job in chosen)
        if worth > most + 1e-6:
            most = worth
            filled = sum(job.procs for job in chosen)
            best = Passing(frozenset(job.rank for job in chosen), filled, world.free(), order)
    return best


def predicted(world: World, job: Work, at: float | None = None) -> float:
    """Return the mean run time of the user's last two jobs that had ended by `at` (None: now), at most the estimate;
    the estimate if there are fewer."""
    at = world.now if at is None else at
    done = sorted((end, rank) for rank, end in enumerate(world.end_of) if end <= at)
    ran = [world.jobs[rank].run for _, rank in done if world.jobs[rank].user == job.user]
    return job.estimate if job.user < 0 or len(ran) < 2 else min(job.estimate, (ran[-1] + ran[-2]) / 2)


def shadow_of(world: World, job: Work) -> tuple[float, int]:
    if world.rules.name != "easy++":
        return world.room_of(job)
    return world.room_of(job, sorted((_end_of(world, rank, end), held) for end, held, rank in world.holds()))


def _end_of(world: World, rank: int, end: float) -> float:
    """Return the expected end of a running job by its predicted run time; a prediction that has proved too short is
    extended."""
    held = world.running.get(rank)
    if held is None or held.kind not in ("run", "speculative"):
        return end
    lasts, ran = predicted(world, world.jobs[rank], max(held.since, world.taken_over)), world.progress(rank)
    grows = [inf] if world.rules["correct"] == "estimate" else [60.0 * minutes for minutes in MINUTES]
    while lasts <= ran and grows:
        lasts += grows.pop(0)
    return min(end, held.since + lasts - held.ran_before)
