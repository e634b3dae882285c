"""A plan made of two columns: free processors over future time."""

from __future__ import annotations

from typing import Any

from sim.kernel import cython
from sim.kernel.columns import (
    A_MOMENT,
    INFINITE,
    copy_numbers,
    copy_times,
    growing_numbers,
    growing_times,
    insert_number,
    insert_time,
    remove_numbers,
    remove_times,
    time_before,
    time_up_to,
)


@cython.cclass
class Plan:
    """Free processors over future time: `sim.machine.profile.Profile` as two columns of `count` steps."""

    def __init__(self, most: int) -> None:
        self.at, self.free = growing_times(most), growing_numbers(most)
        self.count = 0
        """0: there is no plan"""

    def clear(self) -> None:
        """There is no plan any more."""
        remove_times(self.at, self.count, 0, self.count)
        remove_numbers(self.free, self.count, 0, self.count)
        self.count = 0

    def add(self, at: float, free: int) -> None:
        """A step after the last."""
        insert_time(self.at, self.count, self.count, at)
        insert_number(self.free, self.count, self.count, free)
        self.count += 1

    def make(self, now: float, free: int, at: Any, more: Any, count: int) -> None:
        """So many are free now, and more at each of these moments."""
        self.add(now, free)
        for index in range(count):
            free += more[index]
            if at[index] - self.at[self.count - 1] <= A_MOMENT:
                self.free[self.count - 1] = free
            else:
                self.add(at[index], free)

    def become(self, other: Plan) -> None:
        """The same as another plan."""
        copy_times(other.at, self.at, other.count)
        copy_numbers(other.free, self.free, other.count)
        self.count = other.count

    def advance(self, now: float) -> None:
        """Forget what is before `now`."""
        if self.at[0] == now:
            return
        index = time_up_to(self.at, now + A_MOMENT, 0, self.count) - 1
        if index > 0:
            remove_times(self.at, self.count, 0, index)
            remove_numbers(self.free, self.count, 0, index)
            self.count -= index
        self.at[0] = now

    def take(self, start: float, end: float, procs: int) -> None:
        """From `start` until `end` there are `procs` processors fewer (more, if negative)."""
        at, free, count = self.at, self.free, self.count
        if end - start <= A_MOMENT:
            return
        first = time_before(at, start - A_MOMENT, 0, count)
        if first == count or at[first] > start + A_MOMENT:
            insert_time(at, count, first, start)
            insert_number(free, count, first, free[first - 1])
            count += 1
        last = time_before(at, end - A_MOMENT, 0, count)
        for index in range(first, last):
            free[index] -= procs
        index = last
        if index == count or at[index] > end + A_MOMENT:
            insert_time(at, count, index, end)
            insert_number(free, count, index, free[index - 1] + procs)
            count += 1
        elif free[index] == free[index - 1]:
            remove_times(at, count, index, 1)
            remove_numbers(free, count, index, 1)
            count -= 1
        if first and free[first] == free[first - 1]:
            remove_times(at, count, first, 1)
            remove_numbers(free, count, first, 1)
            count -= 1
        self.count = count

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """The first moment from `after` on at which `procs` stay free for `duration`; infinite: never."""
        at, free, candidate, end = self.at, self.free, INFINITE, INFINITE
        for index in range(time_up_to(at, after + A_MOMENT, 0, self.count) - 1, self.count):
            time = at[index]
            if end <= time + A_MOMENT:
                return candidate
            if free[index] < procs:
                candidate = end = INFINITE
            elif end == INFINITE:
                candidate = time if time > after else after
                end = candidate + duration
        return candidate

    def gap_before(self, last: int, start: float, procs: int, duration: float, after: float) -> float:
        """The first place among the steps up to `last`, or `start`; a place may run into `start`, which is its own."""
        at, free, found, until = self.at, self.free, start, INFINITE
        first, step = after + A_MOMENT, INFINITE
        while step > first:
            step = at[last]
            if free[last] < procs:
                until = step
            else:
                if step < after:
                    step = after
                if step + duration <= until + A_MOMENT:
                    found = step
            last -= 1
        return found


@cython.cclass
class RowPlan(Plan):
    """The plan of a row of the matrix."""

    def simplify(self) -> None:
        """Steps at which nothing changes are forgotten."""
        at, free, kept = self.at, self.free, 1
        for index in range(1, self.count):
            if free[index] != free[index - 1]:
                at[kept] = at[index]
                free[kept] = free[index]
                kept += 1
        remove_times(at, self.count, kept, self.count - kept)
        remove_numbers(free, self.count, kept, self.count - kept)
        self.count = kept

    def fits(self, procs: int, start: float, duration: float) -> bool:
        """Are so many processors free from `start` for `duration`?"""
        at, free, end = self.at, self.free, start + duration
        index = time_up_to(at, start + A_MOMENT, 0, self.count) - 1
        while index < self.count and at[index] + A_MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def hole_before(self, before: float, procs: int, duration: float, after: float) -> float:
        """The first moment at which `procs` stay free for `duration`, if it is before `before`; else infinity.

        There must be none before `after`.
        """
        at, free, candidate, end = self.at, self.free, INFINITE, INFINITE
        for index in range(time_before(at, after, 0, self.count), self.count):
            time = at[index]
            if end <= time + A_MOMENT:
                return candidate
            if free[index] < procs:
                if time >= before:
                    return INFINITE
                candidate = end = INFINITE
            elif end == INFINITE:
                if time >= before:
                    return INFINITE
                candidate = time
                end = time + duration
        return candidate
