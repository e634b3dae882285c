"""Columns of numbers where the loop runs as it is: lists, of which all is in use.

Compiled code uses `sim.kernel.arrays`, which has the same functions; `sim.kernel.operations` uses either.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_left
from typing import Any, TypeAlias

from sim.machine import turns
from sim.policies import orders

A_MOMENT = 1e-6
"""Value of `sim.machine.moment`"""
INFINITE = float("inf")

Times: TypeAlias = list[float]
Numbers: TypeAlias = list[int]
Longs: TypeAlias = list[int]
Bytes: TypeAlias = list[int]
Words: TypeAlias = list[int]
"""Columns; where they are compiled, memory views of doubles, and of whole numbers of 32, 64, 8, and 64 bits unsigned"""
Processors: TypeAlias = int
"""A set of processors, a number of as many bits as there are: it stays an object"""
Word: TypeAlias = int
"""Compiled, of 64 bits unsigned"""


def column_of(kind: str, values: Any) -> Any:
    """Return an array's values, "d" or "i"."""
    return values.tolist()


def times(count: int) -> Times:
    """Return a column of `count` moments."""
    return [0.0] * count


def numbers(count: int) -> Numbers:
    """Return a column of `count` whole numbers."""
    return [0] * count


def words(count: int) -> Words:
    """Return a column of `count` empty words."""
    return [0] * count


def growing_times(most: int) -> Times:
    """Return a column that is empty and will never have more moments than that."""
    return []


def growing_numbers(most: int) -> Numbers:
    """Return a column that is empty and will never have more whole numbers than that."""
    return []


def copy_times(column: Any, other: Any, count: int) -> None:
    """Copy the column to the other column."""
    other[:] = column


copy_numbers = copy_times
power, drawn = orders.power, orders.drawn


time_before = number_before = bisect_left
"""How many are smaller than that, if it is between those two places"""


def time_near(column: Any, value: float, near: int, count: int) -> int:
    """Return how many of the first `count` are before the value."""
    return bisect_left(column, value, 0, count)


time_up_to = bisect_right
"""How many are at most that, if it is between those two places"""


def most_first(column: Any, count: int, by: Any, into: Any) -> None:
    """Sort the first `count` into `into`, the greatest by `by` first, of equals the last first."""
    backwards = column[count - 1 :: -1] if count else []
    into[:count] = sorted(backwards, key=by.__getitem__, reverse=True)


turns_for, count_progress = turns.turns_for, turns.count_progress


def whole_turns(time: float, slice: float) -> int:
    """Return how many turns have ended after so long, none where time is not over."""
    return int(time // slice)


def ends_in_order(
    now: float, by: float, ranks: Any, estimate: Any, ran: Any, count: int, ends: Any, order: Any
) -> None:
    """Compute when each job ends, with its remaining estimate stretched by `by`, and sort the places by that.

    Of equals the order is that of before, if there were as many.
    """
    ends[:] = [now + (estimate[rank] - its) * by for rank, its in zip(ranks, ran, strict=True)]
    if len(order) != count:
        order[:] = range(count)
    order.sort(key=ends.__getitem__)


insert_in_order = insort_left
"""Insert a value behind smaller ones, between two places; the last is the number of values"""


def begin_steps(times: Any, numbers: Any, time: float, number: int) -> None:
    """Begin both columns with one step."""
    times[:] = (time,)
    numbers[:] = (number,)


def insert_time(column: Any, count: int, place: int, value: float) -> None:
    """Insert a value at that place."""
    column.insert(place, value)


insert_number = insert_time


def remove_times(column: Any, count: int, place: int, many: int) -> None:
    """Remove `many` values from `place` on."""
    del column[place : place + many]


remove_numbers = remove_times


def set_numbers(column: Any, first: int, many: int, value: int) -> None:
    """Set `many` values from `first` on, within the column."""
    last = first + many
    if first < 0 or last > len(column):
        first = max(first, 0)
        last = max(min(last, len(column)), first)
        many = last - first
    column[first:last] = [value] * many


def sort_pairs(first: Any, second: Any, count: int, other_first: Any, other_second: Any) -> None:
    """Sort `count` pairs, by the second number if the first are equal."""
    pairs = sorted(zip(first[:count], second[:count], strict=True))
    first[:count] = [value for value, _ in pairs]
    second[:count] = [number for _, number in pairs]


def forget_last(first: Any, second: Any) -> None:
    """Remove the last pair."""
    first.pop()
    second.pop()
