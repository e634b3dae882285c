"""Free processors over future time. Every plan of equal processors is a `Profile`.

A profile is a step function: `_free[i]` processors are free from `_times[i]` until `_times[i + 1]`, the last step for
ever. `_times[0]` is the present or earlier. Neighbouring steps differ, so a plan is no longer than necessary. Only this
module uses these lists. Edges less than a microsecond apart are one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import inf
from typing import TypeAlias

from sim.machine.moment import APART, MOMENT
from sim.workload.model import Job
from sim.workload.shape import Seats

Moved: TypeAlias = tuple[Job, float, float]
"""Job whose reservation moves, with its old and its new start."""


class Profile:
    """Plan of the machine's future: how many processors are free at which time.

    >>> plan = Profile(now=0, free=4)
    >>> plan.take(0, 10, 3)
    >>> plan.earliest(procs=2, duration=5, after=0)
    10
    """

    __slots__ = ("_free", "_times")

    def __init__(self, now: float, free: int) -> None:
        self._times: list[float] = [now]
        self._free: list[int] = [free]

    @classmethod
    def of_running(cls, now: float, free: int, ends: Iterable[tuple[float, int, int]]) -> Profile:
        """Return the profile left by running jobs; `ends` are (expected end, rank, processors), sorted."""
        plan = cls(now, free)
        times, steps = plan._times, plan._free
        for end, _, procs in ends:
            free += procs
            if end - times[-1] <= MOMENT:
                steps[-1] = free
            else:
                times.append(end)
                steps.append(free)
        return plan

    @classmethod
    def of_changes(cls, now: float, free: int, changes: Iterable[tuple[float, int, int]]) -> Profile:
        """Return the profile for changes in both directions: `changes` are (time, anything, additional free
        processors), sorted.

        >>> list(Profile.of_changes(0, 4, [(5, -1, -4), (6, -1, 4)]).steps())
        [(0, 4), (5, 0), (6, 4)]
        """
        plan = cls.of_running(now, free, changes)
        steps = list(plan.steps())
        kept = [step for index, step in enumerate(steps) if not index or step[1] != steps[index - 1][1]]
        plan._times, plan._free = map(list, zip(*kept, strict=True))
        return plan

    @classmethod
    def of_steps(cls, steps: Iterable[tuple[float, int]]) -> Profile:
        """Return a profile made of these steps (time from which it holds, free processors)."""
        plan = cls(0, 0)
        plan._times, plan._free = map(list, zip(*steps, strict=True))
        return plan

    def copy(self) -> Profile:
        twin = Profile.__new__(Profile)
        twin._times, twin._free = self._times.copy(), self._free.copy()
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile) or self._free != other._free:
            return False
        return self._times == other._times or all(
            abs(mine - its) <= 2 * MOMENT for mine, its in zip(self._times, other._times, strict=True)
        )

    def steps(self) -> Iterator[tuple[float, int]]:
        """Yield (time from which it holds, free processors) for each step, from the present on."""
        return zip(self._times, self._free, strict=True)

    @property
    def free_now(self) -> int:
        """Return the number of processors that are free at the first step."""
        return self._free[0]

    def shortage(self) -> float | None:
        """Return the first time at which jobs take more processors than exist, or None."""
        return next((time for time, free in self.steps() if free < 0), None)

    def advance(self, now: float) -> None:
        """Drop all steps before `now`."""
        index = bisect_right(self._times, now + MOMENT) - 1
        if index > 0:
            del self._times[:index], self._free[:index]
        self._times[0] = now

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """Return the first moment from `after` on at which `procs` stay free for `duration`."""
        times, free = self._times, self._free
        index = bisect_right(times, after + MOMENT) - 1
        if index > 0:
            times, free = times[index:], free[index:]
        candidate = end = inf
        for time, now_free in zip(times, free, strict=True):
            if end <= time + MOMENT:
                return candidate
            if now_free < procs:
                candidate = end = inf
            elif end == inf:
                candidate = time if time > after else after
                end = candidate + duration
        if end == inf:
            raise ValueError(f"{procs} processors are never free")
        return candidate

    def hole_before(self, before: float, procs: int, duration: float, after: float = -inf) -> float:
        """Return the first time before `before` at which `procs` processors stay free for `duration`; infinity if there
        is none.

        The caller guarantees that there is none before `after`.

        >>> plan = Profile(now=0, free=4)
        >>> plan.take(0, 10, 3)
        >>> plan.hole_before(11, procs=2, duration=5), plan.hole_before(10, procs=2, duration=5)
        (10, inf)
        """
        times, free = self._times, self._free
        candidate = end = inf
        for index in range(bisect_left(times, after), len(times)):
            time = times[index]
            if end <= time + MOMENT:
                return candidate
            if free[index] < procs:
                if time >= before:
                    return inf
                candidate = end = inf
            elif end == inf:
                if time >= before:
                    return inf
                candidate, end = time, time + duration
        return candidate

    def fits(self, procs: int, start: float, duration: float) -> bool:
        """Return True if `procs` processors are free from `start` for `duration`."""
        times, free = self._times, self._free
        end = start + duration
        for index in range(bisect_right(times, start + MOMENT) - 1, len(times)):
            if times[index] + MOMENT >= end:
                break
            if free[index] < procs:
                return False
        return True

    def least(self, start: float, end: float) -> int:
        """Return the smallest number of free processors at any time from `start` until `end`.

        >>> plan = Profile(now=0, free=4)
        >>> plan.take(5, 10, 3)
        >>> plan.least(0, 5), plan.least(0, 6), plan.least(10, 11)
        (4, 1, 4)
        """
        first = bisect_right(self._times, start + MOMENT) - 1
        last = bisect_left(self._times, end - MOMENT, first + 1)
        return min(self._free[first:last])

    def take(self, start: float, end: float, procs: int) -> None:
        """Remove `procs` free processors from `start` until `end`; a negative number adds them."""
        times, free = self._times, self._free
        if end - start <= MOMENT:
            return
        first = bisect_left(times, start - MOMENT)
        if first == len(times) or times[first] > start + MOMENT:
            if not first:
                raise ValueError(f"{start} is before the plan's present {times[0]}")
            times.insert(first, start)
            free.insert(first, free[first - 1])
        index, count = first, len(times)
        until = end - MOMENT
        while index < count and times[index] < until:
            free[index] -= procs
            index += 1
        if index == count or times[index] > end + MOMENT:
            times.insert(index, end)
            free.insert(index, free[index - 1] + procs)
        elif index and free[index] == free[index - 1]:  # at 0 it ends where it begins, but for rounding
            del times[index], free[index]
        if first and free[first] == free[first - 1]:
            del times[first], free[first]

    # The same by job: a machine of nodes answers these, too (`sim.machine.node_plan`)

    def find(self, job: Job, after: float) -> float:
        """Return the earliest start from `after` on at which the job fits for its whole estimate."""
        return self.earliest(job.procs, job.estimate, after)

    def admits(self, job: Job, start: float, lasts: float) -> bool:
        """Return True if the job fits from `start` on for `lasts` seconds."""
        return self.fits(job.procs, start, lasts)

    def hold(self, job: Job, start: float, end: float, on: Seats | None = None) -> Seats | None:
        """Occupy the job's processors from `start` until `end`; return its nodes, None on equal processors."""
        self.take(start, end, job.procs)
        return None

    def let_go(self, job: Job, start: float, end: float) -> None:
        """Free the processors that `hold` occupied."""
        self.take(start, end, -job.procs)

    def put(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Occupy the earliest possible time from `after` on for the job, for its estimate or `lasts` seconds; return
        its start.
        """
        return self.place(job.procs, job.estimate if lasts is None else lasts, after)

    def seats_of(self, job: Job) -> Seats | None:
        """Return the nodes that the plan gives to the job; None on equal processors."""
        return None

    def compression(self, now: float, jobs: Iterable[Job], reserved: Mapping[int, float]) -> Iterator[Moved]:
        """Yield (job, reserved start, earlier start) of the reservations that can move to an earlier start."""
        return compression(self, now, jobs, reserved)

    def place(self, procs: int, duration: float, after: float) -> float:
        """Occupy `procs` processors for `duration` at the earliest possible time from `after` on; return its start."""
        start = self.earliest(procs, duration, after)
        self.take(start, start + duration, procs)
        return start


class Placed:
    """Record of the jobs placed in a plan, which narrows searches: a wider and longer job cannot start before a placed
    one.

    >>> placed = Placed()
    >>> placed.note(2, 5, at=10)
    >>> placed.bound(3, 5), placed.bound(1, 9)
    (10, -inf)
    """

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[tuple[int, float, float]] = []

    def bound(self, procs: int, duration: float) -> float:
        """Return a time before which a job of this size cannot start."""
        for its_procs, its_duration, at in reversed(self._found):
            if its_procs <= procs and its_duration <= duration:
                return at
        return -inf

    def note(self, procs: int, duration: float, at: float) -> None:
        """Record the earliest start found for a job of this size; drop entries that it makes redundant."""
        found = self._found
        while found and found[-1][0] >= procs and found[-1][1] >= duration and found[-1][2] <= at:
            found.pop()
        found.append((procs, duration, at))

    def forget(self) -> None:
        """Drop all entries, because processors have become free in the plan."""
        self._found.clear()


_LOOKED_BACK = 8
"""Number of latest trials that are consulted; older ones say little about the current plan."""


class Extra:
    """Extra processors: left over when the head starts at its shadow time; jobs that would end later share them."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def admits(self, job: Job) -> bool:
        """Return True if the head can still start at its shadow time while this job runs."""
        return job.procs <= self.left

    def count(self, job: Job) -> None:
        """Subtract the processors of a job that has started and ends after the shadow time."""
        self.left -= job.procs


def compression(
    plan: Profile, now: float, jobs: Iterable[Job], reserved: Mapping[int, float]
) -> Iterator[tuple[Job, float, float]]:
    """Move reservations to earlier starts, one after another; yield (job, old start, new start) of each that can move.

    Each is released and placed again. The caller moves the reservation in the plan before asking for the next one.
    Searching is the main cost of conservative backfilling, so results are remembered. A wider and longer job with a
    later reservation finds no place before the new (or kept) place of a smaller one, except on processors that moved
    reservations have left since. The search begins a few microseconds earlier, because rounding may split one point in
    time into two.

    >>> plan = Profile(now=0, free=2)
    >>> plan.take(10, 15, 2)
    >>> job = Job(rank=0, id="1", submit=0, procs=2, estimate=5)
    >>> [(was, at) for _, was, at in compression(plan, 0, [job], {0: 10})]
    [(10, 0)]
    """
    times, free = plan._times, plan._free
    tried: list[tuple[int, float, float, float, int]] = []
    """Searches so far: processors, duration, old start, new start, and the number of moves until then"""
    left: list[float] = []
    """Earliest start that a moved reservation has left since each move"""
    for job in jobs:
        start, procs, duration = reserved[job.rank], job.procs, job.estimate
        last = bisect_left(times, start - MOMENT) - 1
        if last < 0 or (free[last] < procs and now + duration >= start):
            continue  # due, or any earlier place would reach up to a full machine
        hope = now
        for its_procs, its_duration, stood, stands, moves in islice(reversed(tried), _LOOKED_BACK):
            if its_procs <= procs and its_duration <= duration and stood <= start:
                hope = stands if moves == len(left) else min(stands, left[moves] - duration)
                break
        at, moves = _gap_before(plan, last, start, procs, duration, max(hope - APART, now)), len(left)
        if at < start - MOMENT:
            yield job, start, at
            left.append(start)
            for index in range(moves - 1, -1, -1):
                if left[index] <= start:
                    break
                left[index] = start
        else:
            at = start
        while tried and tried[-1][0] >= procs and tried[-1][1] >= duration and tried[-1][3] <= at:
            tried.pop()
        tried.append((procs, duration, start, at, moves))


def _gap_before(plan: Profile, last: int, start: float, procs: int, duration: float, after: float) -> float:
    """Return the first place for the job among the steps up to `last`, else `start`; the place may reach into
    `start`.
    """
    times, free = plan._times, plan._free
    index = bisect_right(times, after + MOMENT) - 1
    while index <= last:
        if free[index] < procs:
            index += 1
            continue
        candidate = times[index] if times[index] > after else after
        end = candidate + duration
        index += 1
        while index <= last and free[index] >= procs and times[index] + MOMENT < end:
            index += 1
        if index > last or times[index] + MOMENT >= end:
            return candidate if candidate < start else start
    return start


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
