"""Number of free processors over future time: the plan of a machine of equal processors.

A profile is a step function; its columns (`at`, `free`) and its searches are in `sim.machine.steps`. `at[0]` is the
present or an earlier time. Neighbouring steps have different numbers, so a plan has no unnecessary steps. Changes less
than a microsecond apart count as simultaneous.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import TypeAlias

from sim.machine.moment import APART, MOMENT
from sim.machine.steps import Steps
from sim.machine.trials import Trials
from sim.workload.model import Job
from sim.workload.shape import Seats

Moved: TypeAlias = tuple[Job, float, float]
"""Reservation that moves, as (job, old start, new start)."""


class Profile(Steps):
    """Plan of the machine's future: how many processors are free at which time.

    >>> plan = Profile(now=0, free=4)
    >>> plan.take(0, 10, 3)
    >>> plan.earliest(procs=2, duration=5, after=0)
    10
    """

    __slots__ = ()

    def __init__(self, now: float, free: int) -> None:
        Steps.__init__(self, 0)
        self.make(now, free, [], [], 0)

    @classmethod
    def of_running(cls, now: float, free: int, ends: Iterable[tuple[float, int, int]]) -> Profile:
        """Return the profile in which only running jobs hold processors. `free` is the number of free processors at
        `now`; `ends` are the (expected end, rank, processors) of running jobs, sorted.
        """
        plan, ends = cls(now, free), [*ends]
        plan.clear()
        plan.make(now, free, [end for end, _, _ in ends], [procs for _, _, procs in ends], len(ends))
        return plan

    @classmethod
    def of_changes(cls, now: float, free: int, changes: Iterable[tuple[float, int, int]]) -> Profile:
        """Return the profile of a machine whose number of free processors can also decrease with time.

        `changes` are (time, ignored, number of processors that become free), sorted; the number is negative if
        processors are taken.

        >>> list(Profile.of_changes(0, 4, [(5, -1, -4), (6, -1, 4)]).steps())
        [(0, 4), (5, 0), (6, 4)]
        """
        plan = cls.of_running(now, free, changes)
        plan.simplify()
        return plan

    @classmethod
    def of_steps(cls, steps: Iterable[tuple[float, int]]) -> Profile:
        """Return a profile with these steps, given as (time, number of processors that are free from then on)."""
        plan = cls(0, 0)
        plan.at, plan.free = map(list, zip(*steps, strict=True))
        plan.count = len(plan.at)
        return plan

    def copy(self) -> Profile:
        twin = Profile.__new__(Profile)
        twin.at, twin.free, twin.count = self.at.copy(), self.free.copy(), self.count
        twin.begins_sooner = self.begins_sooner
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile) or self.free != other.free:
            return False
        return self.at == other.at or all(
            abs(mine - its) <= 2 * MOMENT for mine, its in zip(self.at, other.at, strict=True)
        )

    def steps(self) -> Iterator[tuple[float, int]]:
        """Yield (time, number of processors that are free from then on) for each step of the plan; the first time is
        the beginning of the plan.
        """
        return zip(self.at, self.free, strict=True)

    @property
    def free_now(self) -> int:
        """Return the number of processors that are free at the beginning of the plan."""
        return self.free[0]

    def shortage(self) -> float | None:
        """Return the first time at which the jobs in the plan need more processors than exist; None if there is no such
        time.
        """
        return next((time for time, free in self.steps() if free < 0), None)

    def earliest(self, procs: int, duration: float, after: float) -> float:
        at = Steps.earliest(self, procs, duration, after)
        if at == inf:
            raise ValueError(f"{procs} processors are never free")
        return at

    def least(self, start: float, end: float) -> int:
        """Return the smallest number of free processors at any time from `start` until `end`.

        >>> plan = Profile(now=0, free=4)
        >>> plan.take(5, 10, 3)
        >>> plan.least(0, 5), plan.least(0, 6), plan.least(10, 11)
        (4, 1, 4)
        """
        first = bisect_right(self.at, start + MOMENT) - 1
        last = bisect_left(self.at, end - MOMENT, first + 1)
        return min(self.free[first:last])

    def take(self, start: float, end: float, procs: int) -> None:
        if start < self.at[0] - MOMENT and end - start > MOMENT:
            raise ValueError(f"{start} is before the plan's present {self.at[0]}")
        Steps.take(self, start, end, procs)

    # The same by job: a machine of nodes answers these, too (`sim.machine.node_plan`)

    def find(self, job: Job, after: float) -> float:
        """Return the earliest start from `after` on at which the job fits for its whole estimate."""
        return self.earliest(job.procs, job.estimate, after)

    def admits(self, job: Job, start: float, lasts: float) -> bool:
        """Return True if the job fits from `start` on for `lasts` seconds."""
        return self.fits(job.procs, start, lasts)

    def hold(self, job: Job, start: float, end: float, on: Seats | None = None) -> Seats | None:
        """Occupy the job's processors in the plan from `start` until `end`. `on` is ignored, and the result is always
        None: both are for nodes (`NodePlan`).
        """
        self.take(start, end, job.procs)
        return None

    def narrow(self, job: Job, only: int) -> None:
        """Change nothing. In a plan of nodes, this method says which of its partitions the job uses from now on."""

    def leave_out_drained(self) -> None:
        """Change nothing. In a plan of nodes, this method leaves out the nodes that are drained now."""

    def let_go(self, job: Job, start: float, end: float) -> None:
        """Free the processors that `hold` occupied for this job from `start` until `end`."""
        self.take(start, end, -job.procs)

    def put(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Reserve processors for the job at the earliest possible start from `after` on, for `lasts` seconds (its
        estimate by default); return the start.
        """
        return self.place(job.procs, job.estimate if lasts is None else lasts, after)

    def seats_of(self, job: Job) -> Seats | None:
        """Return the nodes that the plan gives to the job: always None, as this is a plan of equal processors."""
        return None

    def compression(self, now: float, jobs: Iterable[Job], reserved: Mapping[int, float]) -> Iterator[Moved]:
        """Yield (job, old start, new start) for each reservation that can move to an earlier start; the caller moves it
        in the plan before asking for the next.

        A reservation does not count as occupied while its own new start is searched. Searching is the main cost of
        conservative backfilling, so earlier results serve as lower bounds (`Trials`). The search begins a few
        microseconds before the bound, because rounding may split one point in time into two.

        >>> plan = Profile(now=0, free=2)
        >>> plan.take(10, 15, 2)
        >>> job = Job(rank=0, id="1", submit=0, procs=2, estimate=5)
        >>> [(was, at) for _, was, at in plan.compression(0, [job], {0: 10})]
        [(10, 0)]
        """
        times, free, jobs = self.at, self.free, [*jobs]
        trials = Trials(len(jobs))
        for job in jobs:
            start, procs, duration = reserved[job.rank], job.procs, job.estimate
            last = bisect_left(times, start - MOMENT) - 1
            if last < 0 or (free[last] < procs and now + duration >= start):
                continue  # due, or any earlier place would reach up to a full machine
            hope = max(trials.bound(procs, duration, start) - APART, now)
            at = self.gap_before(last, start, procs, duration, hope)
            if at < start - MOMENT:
                yield job, start, at
            else:
                at = start
            trials.note(procs, duration, start, at)

    def place(self, procs: int, duration: float, after: float) -> float:
        """Reserve `procs` processors for `duration` seconds at the earliest possible start from `after` on; return that
        start.
        """
        start = self.earliest(procs, duration, after)
        self.take(start, start + duration, procs)
        return start


class Extra:
    """Extra processors, which stay free when the first job of the queue (the head) starts at its shadow time, its
    earliest possible start.

    Backfilled jobs that would end after the shadow time share them.
    """

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def admits(self, job: Job) -> bool:
        """Return True if the job needs no more than the extra processors, so that the head can still start at its
        shadow time.
        """
        return job.procs <= self.left

    def count(self, job: Job) -> None:
        """Subtract the processors of a job that has started and will end after the shadow time."""
        self.left -= job.procs


def shadow(free: int, ends: Iterable[tuple[float, int, int]], procs: int) -> tuple[float, int]:
    """Return the time at which `procs` processors will be free, and the number of free processors at that time.

    `ends` are (expected end, rank, processors) of running jobs, sorted. Jobs that end at that time count as ended.

    >>> shadow(1, [(10, 0, 2), (20, 1, 4), (20, 2, 1)], 5)
    (20, 8)
    """
    ahead = iter(ends)
    for end, _, held in ahead:
        free += held
        if free >= procs:
            moment = end
            break
    else:
        raise ValueError(f"{procs} processors are never free")
    until = moment + MOMENT
    for end, _, held in ahead:
        if end > until:
            break
        free += held
    return moment, free
