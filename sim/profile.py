"""Free processors over future time. Every plan is made on a `Profile`.

A profile is a step function: `free[i]` processors are free from `times[i]` until `times[i + 1]`, the last for
ever. `times[0]` is the present or earlier. Neighbouring steps differ, so a plan is no longer than it must be.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from math import inf


class Profile:
    """A plan of who will hold how many processors when, as what is left free.

    >>> plan = Profile(now=0, free=4)
    >>> plan.take(0, 10, 3)
    >>> plan.earliest(procs=2, duration=5, after=0)
    10
    """

    __slots__ = ("free", "times")

    def __init__(self, now: float, free: int) -> None:
        self.times: list[float] = [now]
        self.free: list[int] = [free]

    @classmethod
    def of_running(cls, now: float, free: int, ends: Iterable[tuple[float, int, int]]) -> Profile:
        """What running jobs leave free; `ends` are (expected end, rank, processors), sorted."""
        plan = cls(now, free)
        times, steps = plan.times, plan.free
        for end, _, procs in ends:
            free += procs
            if end == times[-1]:
                steps[-1] = free
            else:
                times.append(end)
                steps.append(free)
        return plan

    def copy(self) -> Profile:
        twin = Profile.__new__(Profile)
        twin.times, twin.free = self.times.copy(), self.free.copy()
        return twin

    def advance(self, now: float) -> None:
        """Forget what is before `now`."""
        index = bisect_right(self.times, now) - 1
        if index > 0:
            del self.times[:index], self.free[:index]
        self.times[0] = now

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """The first moment from `after` on at which `procs` stay free for `duration`."""
        times, free = self.times, self.free
        index = bisect_right(times, after) - 1
        if index > 0:
            times, free = times[index:], free[index:]
        candidate = end = inf
        for time, now_free in zip(times, free, strict=True):
            if end <= time:
                return candidate
            if now_free < procs:
                candidate = end = inf
            elif end == inf:
                candidate = time if time > after else after
                end = candidate + duration
        if end == inf:
            raise ValueError(f"{procs} processors are never free")
        return candidate

    def fits(self, procs: int, start: float, duration: float) -> bool:
        """Are `procs` processors free from `start` for `duration`?"""
        times, free = self.times, self.free
        end = start + duration
        for index in range(bisect_right(times, start) - 1, len(times)):
            if times[index] >= end:
                break
            if free[index] < procs:
                return False
        return True

    def take(self, start: float, end: float, procs: int) -> None:
        """From `start` until `end` there are `procs` processors fewer (more, if negative)."""
        times, free = self.times, self.free
        first = bisect_left(times, start)
        if first == len(times) or times[first] != start:
            if not first:
                raise ValueError(f"{start} is before the plan's present {times[0]}")
            times.insert(first, start)
            free.insert(first, free[first - 1])
        index, count = first, len(times)
        while index < count and times[index] < end:
            free[index] -= procs
            index += 1
        if index == count or times[index] != end:
            times.insert(index, end)
            free.insert(index, free[index - 1] + procs)
        elif free[index] == free[index - 1]:
            del times[index], free[index]
        if first and free[first] == free[first - 1]:
            del times[first], free[first]

    def place(self, procs: int, duration: float, after: float) -> float:
        """Take the earliest place there is, and say when it starts."""
        start = self.earliest(procs, duration, after)
        self.take(start, start + duration, procs)
        return start

    def improve(self, start: float, procs: int, duration: float, after: float) -> float:
        """Where a reservation at `start` could move to if it were released: earlier, or `start` itself.

        Its own processors count as free from `start` on, so only what is before it matters.
        """
        candidate = end = inf
        for time, now_free in zip(self.times, self.free, strict=True):
            if end <= time:
                return candidate
            if time >= start:
                break
            if now_free < procs:
                candidate = end = inf
            elif end == inf:
                candidate = time if time > after else after
                end = candidate + duration
        return candidate if candidate < start else start

    def move(self, old: float, new: float, duration: float, procs: int) -> None:
        """A reservation goes from `old` to `new`."""
        self.take(old, old + duration, -procs)
        self.take(new, new + duration, procs)


def shadow(free: int, ends: Iterable[tuple[float, int, int]], procs: int) -> tuple[float, int]:
    """When `procs` processors will be free and how many are then, everything counted that ends by then.

    `ends` are (expected end, rank, processors) of what runs, sorted.

    >>> shadow(1, [(10, 0, 2), (20, 1, 4), (20, 2, 1)], 5)
    (20, 8)
    """
    moment: float | None = None
    for end, _, held in ends:
        if moment is not None and end != moment:
            break
        free += held
        if free >= procs:
            moment = end
    if moment is None:
        raise ValueError(f"{procs} processors are never free")
    return moment, free
