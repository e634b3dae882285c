"""Number of free processors over future time: the plan of a machine of equal processors.

A profile is a step function. Its first step begins at the present or earlier. Neighbouring steps have different
numbers, so a plan has no unnecessary steps. Changes less than a microsecond apart count as simultaneous.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from math import inf

from sim.machine.moment import APART, MOMENT
from sim.machine.trials import Trials
from sim.workload.model import Job
from sim.workload.shape import Seats


class Profile:
    """Plan of the machine's future: how many processors are free at which time.

    >>> plan = Profile(now=0, free=4)
    >>> plan.take(0, 10, 3)
    >>> plan.earliest(procs=2, duration=5, after=0)
    10
    """

    def __init__(self, now: float, free: int) -> None:
        self.at: list[float] = [now]
        self.free: list[int] = [free]
        """`free[i]` processors are free from `at[i]` until `at[i + 1]`; the last step has no end"""
        self.begins_sooner = False
        """True if a call of `advance` moved the first step to the present, although it began a little later (at most a
        microsecond)
        """

    @classmethod
    def of_running(cls, now: float, free: int, ends: Iterable[tuple[float, int, int]]) -> Profile:
        """Return the profile in which only running jobs hold processors. `free` is the number of free processors at
        `now`; `ends` are the (expected end, rank, processors) of running jobs, sorted.
        """
        plan = cls(now, free)
        times, numbers = plan.at, plan.free
        for end, _, procs in ends:
            free += procs
            if end - times[-1] <= MOMENT:
                numbers[-1] = free
            else:
                times.append(end)
                numbers.append(free)
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
        kept = [index for index, free in enumerate(plan.free) if not index or free != plan.free[index - 1]]
        if len(kept) < len(plan.at):
            plan.at, plan.free = [plan.at[index] for index in kept], [plan.free[index] for index in kept]
        return plan

    def copy(self) -> Profile:
        twin = Profile(0, 0)
        twin.become(self)
        twin.begins_sooner = self.begins_sooner
        return twin

    def become(self, other: Profile) -> None:
        self.at, self.free = other.at.copy(), other.free.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile) or self.free != other.free:
            return False
        return self.at == other.at or all(
            abs(mine - its) <= 2 * MOMENT for mine, its in zip(self.at, other.at, strict=True)
        )

    def steps(self) -> Iterator[tuple[float, int]]:
        """Yield (time, number of processors that are free from then on) for each step of the plan."""
        return zip(self.at, self.free, strict=True)

    def shortage(self) -> float | None:
        """Return the first time at which the jobs in the plan need more processors than exist, or None."""
        for index, free in enumerate(self.free):
            if free < 0:
                return self.at[index]
        return None

    def advance(self, now: float) -> None:
        """Remove the steps that lie before `now`, because this time has passed."""
        at = self.at
        if at[0] == now:
            return
        index = bisect_right(at, now + MOMENT) - 1
        if index > 0:
            del at[:index], self.free[:index]
        if at[0] > now:
            self.begins_sooner = True
        at[0] = now

    def take(self, start: float, end: float, procs: int) -> None:
        """Occupy `procs` processors from `start` until `end`; a negative number frees processors."""
        at, free = self.at, self.free
        if end - start <= MOMENT:
            return
        if start < at[0] - MOMENT:
            raise ValueError(f"{start} is before the plan's present {at[0]}")
        first = 0 if at[0] >= start - MOMENT else bisect_left(at, start - MOMENT)
        if first == len(at) or at[first] > start + MOMENT:
            at.insert(first, start)
            free.insert(first, free[first - 1])
        last = bisect_left(at, end - MOMENT, first)
        for index in range(first, last):
            free[index] = free[index] - procs
        if last == len(at) or at[last] > end + MOMENT:
            at.insert(last, end)
            free.insert(last, free[last - 1] + procs)
        elif last and free[last] == free[last - 1]:
            del at[last], free[last]
        if first and free[first] == free[first - 1]:
            del at[first], free[first]

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """Return the first time from `after` on at which `procs` processors stay free for `duration` seconds."""
        at, free, count, soon = self.at, self.free, len(self.at), after + MOMENT
        index = bisect_right(at, soon) - 1
        while index < count:
            if free[index] >= procs:
                start = at[index]
                if start <= soon:
                    start = after
                end = start + duration
                index += 1
                while index < count and free[index] >= procs and end > at[index] + MOMENT:
                    index += 1
                if index == count or end <= at[index] + MOMENT:
                    return start
            index += 1
        raise ValueError(f"{procs} processors are never free")

    def fits(self, procs: int, start: float, duration: float) -> bool:
        at, free, end = self.at, self.free, start + duration
        index = bisect_right(at, start + MOMENT) - 1
        while index < len(at) and at[index] + MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def shortage_of(self, procs: int, end: float) -> int:
        """Return the index of the first step before `end` with fewer than `procs` free processors; -1 if there is no
        such step.
        """
        at, free, index, until = self.at, self.free, 0, end - MOMENT
        while index < len(at) and (at[index] < until or not index):
            if free[index] < procs:
                return index
            index += 1
        return -1

    def gap_before(self, last: int, start: float, procs: int, duration: float, after: float) -> float:
        """Return the earliest time at which `procs` processors stay free for `duration` seconds, to move a job in the
        plan to an earlier start.

        The begins of the steps up to index `last` are tried, and `after`, the earliest time allowed. If none of them
        fits, return `start`, the job's present start in the plan. The result may overlap with the job's present time in
        the plan, because the job gives up that time when it moves.
        """
        at, free, found, until = self.at, self.free, start, inf
        first = after + MOMENT
        for index in range(last, -1, -1):
            step = at[index]
            if free[index] < procs:
                until = step
            else:
                if step <= first:
                    step = after
                if step + duration <= until + MOMENT:
                    found = step
            if step <= first:
                break
        return found

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

    # The same by job: a machine of nodes answers these, too (`sim.machine.node_plan`)

    def find(self, job: Job, after: float) -> float:
        return self.earliest(job.procs, job.estimate, after)

    def admits(self, job: Job, start: float, lasts: float) -> bool:
        return self.fits(job.procs, start, lasts)

    def hold(self, job: Job, start: float, end: float, on: Seats | None = None) -> Seats | None:
        """Occupy the job's processors from `start` until `end`; `on` and the result are for nodes."""
        self.take(start, end, job.procs)
        return None

    def narrow(self, job: Job, only: int) -> None:
        """Change nothing. In a plan of nodes, this method says which of its partitions the job uses from now on."""

    def leave_out_drained(self) -> None:
        """Change nothing. In a plan of nodes, this method leaves out the nodes that are drained now."""

    def let_go(self, job: Job, start: float, end: float) -> None:
        self.take(start, end, -job.procs)

    def put(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Reserve processors for the job at the earliest start from `after` on; return it."""
        return self.place(job.procs, job.estimate if lasts is None else lasts, after)

    def seats_of(self, job: Job) -> Seats | None:
        return None

    def sooner(self, job: Job, start: float, now: float, trials: Trials) -> float:
        """Return the earliest time from `now` on to which the job's reservation from `start` on can move; `start` if it
        cannot. The caller moves it, and then asks about the next job with the same `trials`.

        A reservation does not count as occupied while its own new start is searched. Searching is the main cost of
        conservative backfilling, so earlier results serve as lower bounds (`Trials`). The search begins a few
        microseconds before the bound, because rounding may split one point in time into two.

        >>> plan = Profile(now=0, free=2)
        >>> plan.take(10, 15, 2)
        >>> plan.sooner(Job(rank=0, id="1", submit=0, procs=2, estimate=5), 10, 0, Trials()) == 0
        True
        """
        procs, duration = job.procs, job.estimate
        last = bisect_left(self.at, start - MOMENT) - 1
        if last < 0 or (self.free[last] < procs and now + duration >= start):
            return start  # due, or any earlier place would reach up to a full machine
        hope = max(trials.bound(procs, duration, start) - APART, now)
        at = self.gap_before(last, start, procs, duration, hope)
        if at >= start - MOMENT:
            at = start
        trials.note(procs, duration, start, at)
        return at

    def place(self, procs: int, duration: float, after: float) -> float:
        """Reserve processors at the earliest start from `after` on; return it."""
        start = self.earliest(procs, duration, after)
        self.take(start, start + duration, procs)
        return start


class Extra:
    """Extra processors, which stay free when the first job of the queue (the head) starts at its shadow time, its
    earliest possible start.

    Backfilled jobs that would end after the shadow time share them.
    """

    def __init__(self, left: int) -> None:
        self.left = left

    def admits(self, job: Job) -> bool:
        return job.procs <= self.left

    def count(self, job: Job) -> None:
        self.left -= job.procs
