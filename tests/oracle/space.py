"""SPEC 4 once more, as plainly as it can be said: no profile, no heap, nothing remembered but who runs and who waits.

Shares nothing with the engine; slow, for workloads of some dozens of jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from tests.oracle.jobs import Job, in_order


class Slot(NamedTuple):
    """Processors that a job holds, or is to hold, from one moment to another."""

    start: float
    end: float
    procs: int


@dataclass
class Room:
    """What a policy is shown at an instant, and what it does there."""

    procs: int
    now: float
    queue: list[Job]
    running: dict[Job, float]
    """Job -> its start."""
    promises: dict[Job, float]
    arrived: list[Job]
    early: bool
    """Has some job just completed before its expected end?"""
    order: str = "fcfs"
    options: dict[str, float | str] = field(default_factory=dict)

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
        """What running jobs hold until their expected ends, and what is promised."""
        held = [Slot(self.now, start + job.estimate, job.procs) for job, start in self.running.items()]
        return held + [Slot(at, at + job.estimate, job.procs) for job, at in self.promises.items()]


def earliest(job: Job, slots: list[Slot], procs: int, now: float) -> float:
    """The first moment from now on at which the job's processors are free for its whole estimate."""

    def taken(at: float) -> int:
        return sum(slot.procs for slot in slots if slot.start <= at < slot.end)

    for start in sorted({now, *(slot.end for slot in slots if slot.end > now)}):
        end = start + job.estimate
        moments = [start, *(slot.start for slot in slots if start < slot.start < end)]
        if all(taken(moment) + job.procs <= procs for moment in moments):
            return start
    raise AssertionError("after the last end everything is free")


def start_from_the_front(room: Room) -> list[Job]:
    """Start while it fits; who is left, the head first."""
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
    """When the head could start, and how many processors are then left over."""
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
    for job in waiting[1:]:
        if not room.fits(job):
            continue
        if room.now + job.estimate <= shadow:
            room.start(job)
        elif job.procs <= extra:
            extra -= job.procs
            room.start(job)


def relaxed(room: Room) -> None:
    waiting = start_from_the_front(room)
    if not waiting:
        return
    omega = float(room.options["omega"])
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
}


def starts(procs: int, jobs: list[Job], policy: str, order: str = "fcfs", **options: float | str) -> list[float]:
    """When each job starts, in order of rank."""
    started: dict[int, float] = {}
    running: dict[Job, float] = {}
    promises: dict[Job, float] = {}
    coming, queue = sorted(jobs), list[Job]()
    while coming or queue:
        ends = [start + job.run for job, start in running.items()]
        now = min([*ends, *promises.values(), *(job.submit for job in coming[:1])], default=inf)
        ended = [job for job, start in running.items() if start + job.run == now]
        early = now < max([running.pop(job) + job.estimate for job in ended], default=now)
        arrived = [job for job in coming if job.submit == now]
        coming = coming[len(arrived) :]
        queue += arrived
        POLICIES[policy](Room(procs, now, queue, running, promises, arrived, early, order, options))
        started |= {job.rank: start for job, start in running.items()}
    return [started[job.rank] for job in sorted(jobs)]
