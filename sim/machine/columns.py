"""Columns of numbers as Python lists, for the rules that the engine shares with the fast loop, which simulates over
arrays of numbers instead of objects. A list contains exactly the values in use.

Compiled code uses `sim.kernel.arrays` instead, which has the same functions. The functions of `sim.machine.operations`
work on both.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_left
from typing import Any, TypeAlias

INFINITE = float("inf")

Times: TypeAlias = list[float]
Numbers: TypeAlias = list[int]
Longs: TypeAlias = list[int]
Bytes: TypeAlias = list[int]
Words: TypeAlias = list[int]
"""Type of a column of 64-bit words. In compiled code the columns are memory views: `Times` of doubles, `Numbers`,
`Longs` and `Bytes` of integers of 32, 64 and 8 bits, and `Words` of unsigned integers
"""
Processors: TypeAlias = int
"""Type of a set of processors as one large integer, in compiled code too"""
Word: TypeAlias = int
"""Type of one 64-bit word of a set of processors; in compiled code an unsigned integer"""


def times(count: int) -> Times:
    """Return a new column of `count` times, all 0."""
    return [0.0] * count


def numbers(count: int) -> Numbers:
    """Return a new column of `count` whole numbers, all 0."""
    return [0] * count


def words(count: int) -> Words:
    """Return a new column of `count` words of 64 bits, all 0."""
    return [0] * count


def growing_times(most: int) -> Times:
    """Return an empty column for up to `most` times that are added later."""
    return []


def growing_numbers(most: int) -> Numbers:
    """Return an empty column for up to `most` whole numbers that are added later."""
    return []


def copy_times(column: Any, other: Any, count: int) -> None:
    """Copy the first `count` values of `column` to the beginning of the column `other`."""
    other[:] = column


copy_numbers = copy_times


time_before = number_before = bisect_left
"""Function (column, value, low, high) that returns the first index, from `low` to `high`, at which `value` can be
inserted into a sorted column: before equal values
"""


def time_near(column: Any, value: float, near: int, count: int) -> int:
    """Return how many of the first `count` values of a sorted column are smaller than `value`. `near` is a guess of the
    result, with which compiled code begins its search.
    """
    return bisect_left(column, value, 0, count)


time_up_to = bisect_right
"""Function (column, value, low, high) that returns the last index, from `low` to `high`, at which `value` can be
inserted into a sorted column: behind equal values
"""


def most_first(column: Any, count: int, by: Any, into: Any) -> None:
    """Write the first `count` numbers of `column` into `into`, sorted by `by[number]`, the greatest first. Among equal
    ones, the last of `column` comes first.
    """
    backwards = column[count - 1 :: -1] if count else []
    into[:count] = sorted(backwards, key=by.__getitem__, reverse=True)


def whole_turns(time: float, slice: float) -> int:
    """Return how many whole turns of `slice` seconds fit into `time` seconds; 0 for negative times."""
    return max(int(time // slice), 0)


def ends_in_order(
    now: float, by: float, ranks: Any, estimate: Any, ran: Any, count: int, ends: Any, order: Any
) -> None:
    """Write the expected end of each of `count` jobs into `ends`: now + (estimate - ran) * `by`. The factor `by` says
    how much sharing the time slows jobs down. Write the indices of the jobs into `order`, sorted by end.

    Jobs with equal ends keep their previous order if the number of jobs has not changed.
    """
    ends[:] = [now + (estimate[rank] - its) * by for rank, its in zip(ranks, ran, strict=True)]
    if len(order) != count:
        order[:] = range(count)
    order.sort(key=ends.__getitem__)


insert_in_order = insort_left
"""Function (column, value, low, high) that inserts a value into a sorted column from index `low` to `high`, before
equal values
"""


def insert_time(column: Any, count: int, place: int, value: float) -> None:
    """Insert `value` at index `place` of a column with `count` values."""
    column.insert(place, value)


insert_number = insert_time


def remove_times(column: Any, count: int, place: int, many: int) -> None:
    """Remove `many` values, from index `place` on, from a column with `count` values."""
    del column[place : place + many]


remove_numbers = remove_times


def set_numbers(column: Any, first: int, many: int, value: int) -> None:
    """Set `many` values of the column to `value`, from index `first` on."""
    last = first + many
    if first < 0 or last > len(column):
        first = max(first, 0)
        last = max(min(last, len(column)), first)
        many = last - first
    column[first:last] = [value] * many


def sort_pairs(first: Any, second: Any, count: int, other_first: Any, other_second: Any) -> None:
    """Sort `count` pairs, stored in the columns `first` and `second`, in ascending order. The other two columns are
    working space.
    """
    pairs = sorted(zip(first[:count], second[:count], strict=True))
    first[:count] = [value for value, _ in pairs]
    second[:count] = [number for _, number in pairs]


def forget_last(first: Any, second: Any) -> None:
    """Remove the last pair from two columns."""
    first.pop()
    second.pop()
