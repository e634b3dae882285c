"""Columns of numbers as Python lists, for the rules that the engine shares with the fast loop, which simulates over
arrays of numbers instead of objects. A list contains exactly the values in use.

In the compiled module, functions of the same names in `sim.kernel.arrays` replace these. The functions of
`sim.machine.operations` work on both.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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


def lowest_bit(word: Word) -> int:
    """Return the number of the lowest bit (0 to 63) of the word that is 1; the word must not be 0."""
    return (word & -word).bit_length() - 1


def quotient(many: int, each: int) -> int:
    """Return how many times `each` fits into `many`, for numbers of at most 31 bits. Dividing these is faster."""
    return many // each


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


def whole_turns(time: float, slice: float) -> int:
    """Return how many whole turns of `slice` seconds fit into `time` seconds; 0 for negative times."""
    return max(int(time // slice), 0)


def insert_time(column: Any, count: int, place: int, value: float) -> None:
    """Insert `value` at index `place` of a column with `count` values."""
    column.insert(place, value)


insert_number = insert_time


def remove_times(column: Any, count: int, place: int, many: int) -> None:
    """Remove `many` values, from index `place` on, from a column with `count` values."""
    del column[place : place + many]


remove_numbers = remove_times


def insert_step(times: Any, numbers: Any, count: int, place: int, time: float, number: int) -> None:
    """Insert a time and a number at index `place` of two columns with `count` values."""
    times.insert(place, time)
    numbers.insert(place, number)


def remove_step(times: Any, numbers: Any, count: int, place: int) -> None:
    """Remove the entries at index `place` from two columns with `count` values."""
    del times[place], numbers[place]
