"""Plan of the free processors over future time, stored in two columns (arrays of numbers)."""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    Numbers,
    Times,
    copy_numbers,
    copy_times,
    growing_numbers,
    growing_times,
    insert_step,
    remove_numbers,
    remove_step,
    remove_times,
    time_before,
    time_up_to,
)
from sim.machine.moment import MOMENT


@cython.cclass
class Steps:
    """Plan of the free processors over future time: `free[i]` processors from `at[i]` until `at[i + 1]`; the last step
    has no end.
    """

    def __init__(self, most: int) -> None:
        self.at, self.free = growing_times(most), growing_numbers(most)
        self.count = 0
        """Number of steps of the plan; 0 if there is no plan"""
        self.begins_sooner = False
        """True if a call of `advance` moved the first step to the present, although it began a little later (at most a
        microsecond)
        """

    def clear(self) -> None:
        """Remove all steps, so that there is no plan."""
        remove_times(self.at, self.count, 0, self.count)
        remove_numbers(self.free, self.count, 0, self.count)
        self.count = 0

    def make(self, now: float, free: int, at: Times, more: Numbers, count: int) -> None:
        """Make a plan with `free` processors from `now` on, and `more[i]` additional ones from `at[i]` on, for the
        first `count` values of i.
        """
        times, numbers, last = self.at, self.free, 0
        insert_step(times, numbers, 0, 0, now, free)
        for index in range(count):
            free += more[index]
            time = at[index]
            if time - times[last] <= MOMENT:
                numbers[last] = free
            else:
                last += 1
                insert_step(times, numbers, last, last, time, free)
        self.count = last + 1

    def simplify(self) -> None:
        """Remove the steps at which the number of free processors does not change."""
        at, free, count, kept = self.at, self.free, self.count, 1
        for index in range(1, count):
            if free[index] != free[kept - 1]:
                at[kept] = at[index]
                free[kept] = free[index]
                kept += 1
        if kept < count:
            remove_times(at, count, kept, count - kept)
            remove_numbers(free, count, kept, count - kept)
            self.count = kept

    def become(self, other: Steps) -> None:
        """Replace this plan by a copy of another plan."""
        copy_times(other.at, self.at, other.count)
        copy_numbers(other.free, self.free, other.count)
        self.count = other.count

    def advance(self, now: float) -> None:
        """Remove the steps that lie before `now`, because this time has passed."""
        if self.at[0] == now:
            return
        index = time_up_to(self.at, now + MOMENT, 0, self.count) - 1
        if index > 0:
            remove_times(self.at, self.count, 0, index)
            remove_numbers(self.free, self.count, 0, index)
            self.count -= index
        if self.at[0] > now:
            self.begins_sooner = True
        self.at[0] = now

    def take(self, start: float, end: float, procs: int) -> None:
        """Occupy `procs` processors from `start` until `end`; a negative number frees processors."""
        at, free, count = self.at, self.free, self.count
        if end - start <= MOMENT:
            return
        first = time_before(at, start - MOMENT, 0, count)
        if first == count or at[first] > start + MOMENT:
            insert_step(at, free, count, first, start, free[first - 1])
            count += 1
        last = time_before(at, end - MOMENT, first, count)
        for index in range(first, last):
            free[index] = free[index] - procs
        if last == count or at[last] > end + MOMENT:
            insert_step(at, free, count, last, end, free[last - 1] + procs)
            count += 1
        elif last and free[last] == free[last - 1]:
            remove_step(at, free, count, last)
            count -= 1
        if first and free[first] == free[first - 1]:
            remove_step(at, free, count, first)
            count -= 1
        self.count = count

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """Return the first time from `after` on at which `procs` processors stay free for `duration` seconds; infinity
        if there is no such time.
        """
        at, free, count, soon = self.at, self.free, self.count, after + MOMENT
        index = time_up_to(at, soon, 0, count) - 1
        while index < count:
            if free[index] >= procs:
                candidate: float = at[index]
                if candidate <= soon:
                    candidate = after
                end = candidate + duration
                index += 1
                while index < count and free[index] >= procs and end > at[index] + MOMENT:
                    index += 1
                if index == count or end <= at[index] + MOMENT:
                    return candidate
            index += 1
        return INFINITE

    def fits(self, procs: int, start: float, duration: float) -> bool:
        """Return True if `procs` processors are free from `start` on for `duration` seconds."""
        at, free, end = self.at, self.free, start + duration
        index = time_up_to(at, start + MOMENT, 0, self.count) - 1
        while index < self.count and at[index] + MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def shortage_of(self, procs: int, end: float) -> int:
        """Return the index of the first step before `end` with fewer than `procs` free processors; -1 if there is no
        such step.
        """
        at, free, index, until = self.at, self.free, 0, end - MOMENT
        while index < self.count and (at[index] < until or not index):
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
        at, free, found, until = self.at, self.free, start, INFINITE
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
