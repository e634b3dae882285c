"""A second, plain implementation of space sharing: no profile, no heap, only running and waiting jobs.

Shares nothing with the engine; slow, for workloads of some dozens of jobs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import NamedTuple

from tests.oracle.jobs import ORDERS, Job, exact, in_order


class Slot(NamedTuple):
    """Number of processors that a job holds, or will hold, from `start` until `end`."""

    start: float
    end: float
    procs: int


@dataclass
class Room:
    """State of a machine and its queue at an instant, as a policy sees it, and the policy's actions."""

    procs: int
    now: float
    queue: list[Job]
    running: dict[Job, float]
    """For each running job: its start."""
    promises: dict[Job, float]
    arrived: list[Job]
    early: bool
    """True if a job has just completed before its expected end"""
    order: str = "fcfs"
    options: dict[str, float | str] = field(default_factory=dict)
    ended: list[tuple[float, Job]] = field(default_factory=list)
    """(end, job) of each finished job"""
    wake: float = inf
    """Next time at which the policy wants a pass, even if no job arrives or ends then"""

    def waiting(self) -> list[Job]:
        return in_order(self.queue, self.order, self.now)

    def free(self) -> int:
        return self.procs - sum(job.procs for job in self.running)

    def fits(self, job: Job) -> bool:
        return job.procs <= self.free()

    def start(self, job: Job) -> None:
        assert self.fits(job)
        self.queue.remove(job)
        self.promises.pop(job, None)
        self.running[job] = self.now

    def slots(self) -> list[Slot]:
        held = [Slot(self.now, start + job.estimate, job.procs) for job, start in self.running.items()]
        return held + [Slot(at, at + job.estimate, job.procs) for job, at in self.promises.items()]


def earliest(job: Job, slots: list[Slot], procs: int, now: float) -> float:
    """Return the first time, from `now` on, at which enough of the `procs` processors are free for the job's whole
    estimate."""

    def taken(at: float) -> int:
        return sum(slot.procs for slot in slots if slot.start <= at < slot.end)

    for start in sorted({now, *(slot.end for slot in slots if slot.end > now)}):
        end = start + job.estimate
        moments = [start, *(slot.start for slot in slots if start < slot.start < end)]
        if all(taken(moment) + job.procs <= procs for moment in moments):
            return start
    raise AssertionError("after the last end everything is free")


def start_from_the_front(room: Room) -> list[Job]:
    """Start jobs of the queue in order while they fit; return the jobs that are left, the head first."""
    waiting = room.waiting()
    while waiting and room.fits(waiting[0]):
        room.start(waiting.pop(0))
    return waiting


def fcfs(room: Room) -> None:
    start_from_the_front(room)


def firstfit(room: Room) -> None:
    for job in room.waiting():
        if room.fits(job):
            room.start(job)


def shadow_of(head: Job, room: Room) -> tuple[float, int]:
    """Return the head's shadow time, and the extra processors at that time."""
    for moment in sorted(start + job.estimate for job, start in room.running.items()):
        free = room.free() + sum(job.procs for job, start in room.running.items() if start + job.estimate <= moment)
        if free >= head.procs:
            return moment, free - head.procs
    raise AssertionError("an empty machine holds every job")


def easy(room: Room) -> None:
    waiting = start_from_the_front(room)
    if not waiting:
        return
    shadow, extra = shadow_of(waiting[0], room)
    for job in pass_the_head(tail_of(waiting[1:], str(room.options.get("tail", "queue"))), room, shadow, extra):
        room.start(job)


def tail_of(jobs: list[Job], tail: str) -> list[Job]:
    if tail == "queue":
        return jobs
    return sorted(jobs, key=lambda job: -job.rank if tail == "latest" else ORDERS[tail](job, 0))


def pass_the_head(jobs: list[Job], room: Room, shadow: float, extra: int) -> list[Job]:
    """Return the jobs that EASY starts, trying them in this order; `extra` is the number of extra processors at the
    `shadow` time."""
    started, free = list[Job](), room.free()
    for job in jobs:
        if job.procs <= free and room.now + job.estimate <= shadow:
            started.append(job)
        elif job.procs <= free and job.procs <= extra:
            extra -= job.procs
            started.append(job)
        else:
            continue
        free -= job.procs
    return started


def greedy(room: Room) -> None:
    waiting = start_from_the_front(room)
    if not waiting:
        return
    shadow, extra = shadow_of(waiting[0], room)
    tried = [
        pass_the_head(tail_of(waiting[1:], tail), room, shadow, extra)
        for tail in ("queue", "latest", "narrow", "sjf", "saf")
    ]

    def worth(jobs: list[Job]) -> float:
        by = room.options.get("by", "jobs")
        return sum(1 if by == "jobs" else job.procs * (job.estimate if by == "area" else 1) for job in jobs)

    best = max(map(worth, tried))
    for job in next(jobs for jobs in tried if worth(jobs) == best):
        room.start(job)


def lookahead(room: Room) -> None:
    waiting = start_from_the_front(room)
    if not waiting:
        return
    shadow, extra = shadow_of(waiting[0], room)
    jobs = waiting[1 : 1 + int(room.options.get("window", 50))]

    @cache
    def most(many: int, free: int, extra: int) -> int:
        """Return how many of `free` processors the first `many` jobs can fill. Jobs that end after the shadow time may
        use at most `extra`."""
        if not many:
            return 0
        job = jobs[many - 1]
        late = job.procs if room.now + job.estimate > shadow else 0
        without = most(many - 1, free, extra)
        if job.procs > free or late > extra:
            return without
        return max(without, job.procs + most(many - 1, free - job.procs, extra - late))

    free, chosen = room.free(), list[Job]()
    for many in range(len(jobs), 0, -1):
        if most(many, free, extra) > most(many - 1, free, extra):
            job = jobs[many - 1]
            chosen.append(job)
            free -= job.procs
            extra -= job.procs if room.now + job.estimate > shadow else 0
    for job in chosen:
        room.start(job)


def easy_plus_plus(room: Room) -> None:
    def predicted(job: Job, at: float) -> float:
        ran = [other.run for end, other in sorted(room.ended) if end <= at and other.user == job.user]
        return job.estimate if job.user < 0 or len(ran) < 2 else min(job.estimate, (ran[-1] + ran[-2]) / 2)

    def end(job: Job, start: float) -> float:
        lasts = predicted(job, start)
        grows = [inf] if room.options.get("correct") == "estimate" else GROWS
        while start + lasts <= room.now:
            lasts, grows = lasts + grows[0], grows[1:]
        return start + min(lasts, job.estimate)

    waiting = start_from_the_front(room)
    if not waiting:
        return
    head, ends = waiting[0], {job: end(job, start) for job, start in room.running.items()}
    free_at = {at: room.free() + sum(job.procs for job in ends if ends[job] <= at) for at in sorted(ends.values())}
    shadow = min(moment for moment, free in free_at.items() if free >= head.procs)
    extra = free_at[shadow] - head.procs
    room.wake = shadow
    for job in sorted(waiting[1:], key=lambda job: (predicted(job, room.now), job.rank)):
        if room.fits(job) and room.now + predicted(job, room.now) <= shadow:
            room.start(job)
        elif room.fits(job) and job.procs <= extra:
            extra -= job.procs
            room.start(job)


GROWS = [*(minutes * 60 for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000)), inf]


def relaxed(room: Room) -> None:
    waiting = start_from_the_front(room)
    if not waiting:
        return
    omega = exact(room.options["omega"])
    shadow, _ = shadow_of(waiting[0], room)
    window = omega * (shadow - room.now)
    if room.options.get("relative") == "runtime":
        window = shadow - room.now + (omega - 1) * waiting[0].estimate
    for job in waiting[1:]:
        if room.fits(job) and room.now + job.estimate <= room.now + window:
            room.start(job)


def replan(room: Room) -> None:
    assert not room.promises
    planned: list[Job] = []
    slots = room.slots()
    for job in room.waiting():
        at = earliest(job, slots, room.procs, room.now)
        slots.append(Slot(at, at + job.estimate, job.procs))
        if at == room.now:
            planned.append(job)
    for job in planned:
        room.start(job)


def conservative(room: Room) -> None:
    compress = room.options.get("compress", "start")
    if room.early and compress != "none":
        promised = list(room.promises)
        by_start = sorted(promised, key=lambda job: (room.promises[job], job.rank))
        for job in by_start if compress == "start" else in_order(promised, room.order, room.now):
            del room.promises[job]
            room.promises[job] = earliest(job, room.slots(), room.procs, room.now)
    for job in room.arrived:
        room.promises[job] = earliest(job, room.slots(), room.procs, room.now)
    for job in sorted(room.queue):
        if room.promises[job] == room.now:
            room.start(job)


POLICIES: dict[str, Callable[[Room], None]] = {
    "fcfs": fcfs,
    "firstfit": firstfit,
    "easy": easy,
    "relaxed": relaxed,
    "replan": replan,
    "conservative": conservative,
    "greedy": greedy,
    "lookahead": lookahead,
    "easy++": easy_plus_plus,
}


def starts(procs: int, jobs: list[Job], policy: str, order: str = "fcfs", **options: float | str) -> list[float]:
    """Return the start of each job, in order of rank."""
    started: dict[int, float] = {}
    running: dict[Job, float] = {}
    promises: dict[Job, float] = {}
    coming, queue = sorted(jobs), list[Job]()
    done, wake = list[tuple[float, Job]](), inf
    while coming or queue:
        ends = [start + job.run for job, start in running.items()]
        now = min([*ends, *promises.values(), *(job.submit for job in coming[:1]), wake])
        ended = [job for job, start in running.items() if start + job.run == now]
        done += [(now, job) for job in sorted(ended)]
        early = now < max([running.pop(job) + job.estimate for job in ended], default=now)
        arrived = [job for job in coming if job.submit == now]
        coming = coming[len(arrived) :]
        queue += arrived
        room = Room(procs, now, queue, running, promises, arrived, early, order, options, done)
        POLICIES[policy](room)
        wake = room.wake
        started |= {job.rank: start for job, start in running.items()}
    return [started[job.rank] for job in sorted(jobs)]
