"""A second, plain implementation of suspension: sets of processors, and nothing remembered but which job is where.

Without overhead of suspensions. Shares no code with the engine; slow, for some hundreds of jobs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from sim.workload.categories import category_of
from tests.oracle.jobs import Job


class Stay(NamedTuple):
    """A time for which a job held processors without interruption."""

    rank: int
    start: float
    end: float
    processors: int
    """Processors that the job held, as bits."""


@dataclass
class Preemption:
    """One run under `policy`: `selective`, `tunable` (which uses `limit`) or `immediate`."""

    procs: int
    coming: list[Job]
    policy: str
    sf: float = 2
    tick: float = 60
    slice: float = 600
    limit: float = 1.5
    seats: str = "apart"
    restart: str = "own"
    now: float = 0
    idle: list[Job] = field(default_factory=list)
    since: dict[Job, float] = field(default_factory=dict)
    """For each running job: the time of its start or last resumption."""
    held: dict[Job, set[int]] = field(default_factory=dict)
    own: dict[Job, set[int]] = field(default_factory=dict)
    """For each suspended job: the processors on which it ran."""
    before: dict[Job, float] = field(default_factory=dict)
    """For each job that has been suspended: the seconds that it ran before its last resumption."""
    awaited: list[tuple[float, Job, float]] = field(default_factory=list)
    """(end of the job's first slice, job, time since which it runs) of running jobs for whose slice another job
    waits"""
    slowdowns: dict[int, list[float]] = field(default_factory=dict)
    stays: list[Stay] = field(default_factory=list)

    def run(self) -> list[Stay]:
        while self.coming or self.idle or self.since:
            self.now = min(self.instants())
            for job in sorted(job for job in self.since if self.ran(job) >= job.run):
                self.leave(job)
                wait = self.now - job.submit - job.run
                kind = category_of(job.estimate, job.procs)
                self.slowdowns.setdefault(kind, []).append(1 + wait / max(job.run, 10))
            self.idle += [job for job in self.coming if job.submit == self.now]
            self.coming = [job for job in self.coming if job.submit > self.now]
            self.immediate() if self.policy == "immediate" else self.selective()
        return sorted(self.stays)

    def instants(self) -> Iterable[float]:
        """Yield the times at which something may happen: arrivals, ends of jobs, ticks, and ends of slices for which a
        job waits."""
        yield from (job.submit for job in self.coming)
        yield from (since + job.run - self.before.get(job, 0) for job, since in self.since.items())
        yield from (at for at, job, since in self.awaited if at > self.now and self.since.get(job) == since)
        if self.policy != "immediate" and self.idle:
            yield (self.now // self.tick + 1) * self.tick

    # Quantities of the rules

    def ran(self, job: Job) -> float:
        return self.before.get(job, 0) + (self.now - self.since[job] if job in self.since else 0)

    def xfactor(self, job: Job) -> float:
        return (self.now - job.submit - self.ran(job) + job.estimate) / job.estimate

    def suffering(self, job: Job) -> float:
        return (self.now - job.submit) / self.ran(job) if self.ran(job) else inf

    def free(self) -> set[int]:
        return set(range(self.procs)) - set().union(*self.held.values())

    def pinned(self, job: Job) -> set[int]:
        return self.own.get(job, set()) if self.restart == "own" else set()

    def spared(self, job: Job) -> bool:
        known = self.slowdowns.get(category_of(job.estimate, job.procs), [])
        return self.policy == "tunable" and bool(known) and self.xfactor(job) > self.limit * sum(known) / len(known)

    def allowed(self, job: Job, victim: Job) -> bool:
        outranked = self.xfactor(job) >= self.sf * self.xfactor(victim)
        return outranked and job.procs >= victim.procs / 2 and not self.spared(victim)

    # Events

    def begin(self, job: Job, *choices: set[int]) -> None:
        """Start or resume the job on processors of the first set, lowest numbers first; then, as needed, on those of
        the next sets."""
        taken: list[int] = []
        for choice in choices:
            taken += sorted(choice - set(taken))[: job.procs - len(taken)]
        assert len(taken) == job.procs
        assert set(taken) <= self.free()
        self.idle.remove(job)
        self.own.pop(job, None)
        self.since[job], self.held[job] = self.now, set(taken)

    def leave(self, job: Job) -> set[int]:
        ran, held = self.ran(job), self.held.pop(job)
        self.stays.append(Stay(job.rank, self.since.pop(job), self.now, sum(1 << number for number in held)))
        self.before[job] = ran
        return held

    def start_if_it_fits(self, job: Job) -> bool:
        free = self.free()
        if pinned := self.pinned(job):
            if pinned <= free:
                self.begin(job, pinned)
        elif job.procs <= len(free):
            waited_for = set().union(*self.own.values()) if self.seats == "apart" else set()
            self.begin(job, free & self.own.get(job, set()), free - waited_for, free)
        return job in self.since

    def preempt(self, job: Job, victims: list[Job]) -> None:
        """Suspend the victims and run the job: on free processors first, then on its victims' (first those on which it
        ran before), lowest numbers first."""
        pinned, free, mine = self.pinned(job), self.free(), self.own.get(job, set())
        theirs = set[int]()
        for victim in victims:
            self.own[victim] = self.leave(victim)
            theirs |= self.own[victim]
            self.idle.append(victim)
        self.begin(job, pinned) if pinned else self.begin(job, free, theirs & mine, theirs)

    def enough(self, job: Job, candidates: Iterable[Job]) -> list[Job]:
        """Return the victims needed for the job: candidates in order until processors are enough, then without unneeded
        ones. Empty if all candidates are too few."""
        taken, found = list[Job](), len(self.free())
        for victim in candidates:
            if found < job.procs:
                taken.append(victim)
                found += victim.procs
        for victim in list(taken):
            if found - victim.procs >= job.procs:
                taken.remove(victim)
                found -= victim.procs
        return taken if found >= job.procs else []

    # Policies

    def selective(self) -> None:
        for job in sorted(self.idle, key=lambda job: (-self.xfactor(job), job.rank)):
            self.start_if_it_fits(job)
        if self.now % self.tick:
            return
        for job in sorted(self.idle, key=lambda job: (-self.xfactor(job), job.rank)):
            if self.start_if_it_fits(job):
                continue
            if pinned := self.pinned(job):
                sitting = [other for other in self.since if self.held[other] & pinned]
                victims = sitting if all(self.allowed(job, other) for other in sitting) else []
            else:
                order = sorted(self.since, key=lambda other: (self.xfactor(other), -other.rank))
                victims = self.enough(job, [other for other in order if self.allowed(job, other)])
            if victims:
                self.preempt(job, victims)

    def immediate(self) -> None:
        for job in sorted(self.idle, key=lambda job: (-self.suffering(job), job.rank)):
            self.start_if_it_fits(job)
        for job in sorted(job for job in self.idle if not self.ran(job)):
            if not self.start_if_it_fits(job):
                order = sorted(self.since, key=lambda other: (self.suffering(other), -other.rank))
                if victims := self.enough(job, [other for other in order if self.ran(other) >= self.slice]):
                    self.preempt(job, victims)
        if any(not self.ran(job) for job in self.idle):
            ends = [(since + self.slice - self.before.get(job, 0), job, since) for job, since in self.since.items()]
            self.awaited += sorted(end for end in ends if end[0] > self.now)[:1]
