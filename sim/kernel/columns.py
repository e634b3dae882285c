"""Columns of numbers, and a plan made of two of them.

The few functions that are written twice are those for which lists and arrays have different best ways: sorted columns
of `count` values, which in lists is all that there is and in arrays what is in use.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from sim.kernel import cython

A_MOMENT = 1e-6
"""As in `sim.machine.moment`"""
INFINITE = float("inf")


def times(count: int) -> Any:
    """A column of so many moments, which take no memory before they are written."""
    if cython.compiled:
        return np.zeros(count)
    return [0.0] * count


def numbers(count: int) -> Any:
    """A column of so many whole numbers."""
    if cython.compiled:
        return np.zeros(count, np.int32)
    return [0] * count


def growing_times(most: int) -> Any:
    """A column that is empty and will never have more moments than that."""
    return times(most + 2 if cython.compiled else 0)


def growing_numbers(most: int) -> Any:
    """A column that is empty and will never have more whole numbers than that."""
    return numbers(most + 2 if cython.compiled else 0)


# Written twice: sorted columns of so many


def time_before(column: Any, count: int, value: float) -> int:
    """How many are smaller than that."""
    if cython.compiled:
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            if column[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low
    return bisect_left(column, value)


def time_up_to(column: Any, count: int, value: float) -> int:
    """How many are at most that."""
    if cython.compiled:
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            if value < column[middle]:
                high = middle
            else:
                low = middle + 1
        return low
    return bisect_right(column, value)


def number_before(column: Any, count: int, value: int) -> int:
    """How many are smaller than that."""
    if cython.compiled:
        low, high = 0, count
        while low < high:
            middle = (low + high) >> 1
            if column[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low
    return bisect_left(column, value)


def pair_before(first: Any, second: Any, count: int, value: float, number: int) -> int:
    """How many pairs are smaller than that."""
    place = time_before(first, count, value)
    while place < count and first[place] == value and second[place] < number:
        place += 1
    return place


def insert_time(column: Any, count: int, place: int, value: float) -> None:
    """One more, at that place."""
    if cython.compiled:
        while count > place:
            column[count] = column[count - 1]
            count -= 1
        column[place] = value
    else:
        column.insert(place, value)


def insert_number(column: Any, count: int, place: int, value: int) -> None:
    """One more, at that place."""
    if cython.compiled:
        while count > place:
            column[count] = column[count - 1]
            count -= 1
        column[place] = value
    else:
        column.insert(place, value)


def remove_times(column: Any, count: int, place: int, many: int) -> None:
    """So many fewer, from that place on."""
    if cython.compiled:
        while place + many < count:
            column[place] = column[place + many]
            place += 1
    else:
        del column[place : place + many]


def remove_numbers(column: Any, count: int, place: int, many: int) -> None:
    """So many fewer, from that place on."""
    if cython.compiled:
        while place + many < count:
            column[place] = column[place + many]
            place += 1
    else:
        del column[place : place + many]


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

    def become(self, other: Plan) -> None:
        """The same as another plan."""
        if cython.compiled:
            for index in range(other.count):
                self.at[index] = other.at[index]
                self.free[index] = other.free[index]
        else:
            self.at[:], self.free[:] = other.at, other.free
        self.count = other.count

    def advance(self, now: float) -> None:
        """Forget what is before `now`."""
        index = time_up_to(self.at, self.count, now + A_MOMENT) - 1
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
        first = time_before(at, count, start - A_MOMENT)
        if first == count or at[first] > start + A_MOMENT:
            insert_time(at, count, first, start)
            insert_number(free, count, first, free[first - 1])
            count += 1
        index, until = first, end - A_MOMENT
        while index < count and at[index] < until:
            free[index] -= procs
            index += 1
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
        for index in range(time_up_to(at, self.count, after + A_MOMENT) - 1, self.count):
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
