"""Columns of numbers as arrays, for the compiled loop; the first `count` values of an array are in use.

The functions are the same as in `sim.machine.columns`, which the interpreted loop uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.machine.columns import Numbers, Times, Words

INFINITE = float("inf")
A_RUN = 16
"""Longest sequence that is sorted by insertion; longer ones are merged"""


def column_of(kind: str, values: Any) -> Any:
    """Return an array of kind "d" or "i" as a column; it is copied only if necessary."""
    return values.astype(kind, copy=not values.flags.writeable)


def times(count: int) -> Times:
    """Return a column for `count` times, which takes no memory before it is written."""
    zeros: Any = np.zeros(count)
    column: Times = zeros
    return column


def numbers(count: int) -> Numbers:
    """Return a column of `count` whole numbers."""
    zeros: Any = np.zeros(count, np.int32)
    column: Numbers = zeros
    return column


def words(count: int) -> Words:
    """Return a column of `count` empty words of 64 bits."""
    zeros: Any = np.zeros(count, np.uint64)
    column: Words = zeros
    return column


def growing_times(most: int) -> Times:
    """Return an empty column for at most `most` times."""
    return times(most + 2)


def growing_numbers(most: int) -> Numbers:
    """Return an empty column for at most `most` whole numbers."""
    return numbers(most + 2)


def copy_times(column: Times, other: Times, count: int) -> None:
    """Copy the first `count` values of a column to another column."""
    for index in range(count):
        other[index] = column[index]


def copy_numbers(column: Numbers, other: Numbers, count: int) -> None:
    """Copy the first `count` values of a column to another column."""
    for index in range(count):
        other[index] = column[index]


def time_before(column: Times, value: float, low: int, high: int) -> int:
    """Return the number of sorted values that are smaller than `value`, which is between `low` and `high`."""
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def time_near(column: Times, value: float, near: int, count: int) -> int:
    """Return the number of the first `count` sorted values that are before `value`, searching from the guess `near`."""
    while near > count or (near and column[near - 1] >= value):
        near -= 1
    while near < count and column[near] < value:
        near += 1
    return near


def time_up_to(column: Times, value: float, low: int, high: int) -> int:
    """Return the number of sorted values that are at most `value`, which is between `low` and `high`."""
    while low < high:
        middle = (low + high) >> 1
        if value < column[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def number_before(column: Numbers, value: int, low: int, high: int) -> int:
    """Return the number of sorted values that are smaller than `value`, which is between `low` and `high`."""
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def most_first(column: Numbers, count: int, by: Numbers, into: Numbers) -> None:
    """Sort the first `count` numbers into `into`, the greatest by `by` first; of equals the last comes first."""
    for index in range(count):
        number, place = column[count - 1 - index], index
        while place and by[into[place - 1]] < by[number]:
            into[place] = into[place - 1]
            place -= 1
        into[place] = number


def whole_turns(time: float, slice: float) -> int:
    """Return the number of turns that have ended after `time` seconds, rounded as Python divides; 0 for negative
    times.
    """
    if time < slice:
        return 0
    rest = time % slice
    turns = (time - rest) / slice
    whole: int = int(turns)
    return whole + 1 if turns - whole > 0.5 else whole


def ends_in_order(
    now: float, by: float, ranks: Numbers, estimate: Times, ran: Times, count: int, ends: Times, order: Numbers
) -> None:
    """Compute the expected end of each job, with its remaining estimate times `by`, and sort the jobs by it."""
    for index in range(count):
        ends[index] = now + (estimate[ranks[index]] - ran[index]) * by
        place = index
        while place and ends[order[place - 1]] > ends[index]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = index


def insert_time(column: Times, count: int, place: int, value: float) -> None:
    """Insert a value at that index."""
    while count > place:
        column[count] = column[count - 1]
        count -= 1
    column[place] = value


def insert_number(column: Numbers, count: int, place: int, value: int) -> None:
    """Insert a value at that index."""
    while count > place:
        column[count] = column[count - 1]
        count -= 1
    column[place] = value


def begin_steps(times: Times, numbers: Numbers, time: float, number: int) -> None:
    """Write the first step of both columns."""
    times[0] = time
    numbers[0] = number


def remove_times(column: Times, count: int, place: int, many: int) -> None:
    """Remove `many` values from index `place` on."""
    while place + many < count:
        column[place] = column[place + many]
        place += 1


def remove_numbers(column: Numbers, count: int, place: int, many: int) -> None:
    """Remove `many` values from index `place` on."""
    while place + many < count:
        column[place] = column[place + many]
        place += 1


def set_numbers(column: Numbers, first: int, many: int, value: int) -> None:
    """Set `many` values from index `first` on, within the column."""
    for place in range(max(first, 0), min(first + many, len(column))):
        column[place] = value


def comes_before(value: float, number: int, other: float, than: int) -> bool:
    """Return True if the first pair sorts before the second."""
    return value < other or (value == other and number < than)


def sort_pairs(first: Times, second: Numbers, count: int, other_first: Times, other_second: Numbers) -> None:
    """Sort `count` pairs with the help of two more columns, quickly if they are nearly sorted."""
    begin, step = 0, A_RUN
    while begin < count:
        for index in range(begin + 1, min(begin + A_RUN, count)):
            value, number, place = first[index], second[index], index
            while place > begin and comes_before(value, number, first[place - 1], second[place - 1]):
                first[place] = first[place - 1]
                second[place] = second[place - 1]
                place -= 1
            first[place] = value
            second[place] = number
        begin += A_RUN
    while step < count:
        begin = 0
        while begin + step < count:
            merge_pairs(first, second, begin, begin + step, min(begin + 2 * step, count), other_first, other_second)
            begin += 2 * step
        step *= 2


def merge_pairs(
    first: Times, second: Numbers, begin: int, middle: int, end: int, other_first: Times, other_second: Numbers
) -> None:
    """Merge two sorted runs of pairs."""
    if not comes_before(first[middle], second[middle], first[middle - 1], second[middle - 1]):
        return
    while not comes_before(first[middle], second[middle], first[begin], second[begin]):
        begin += 1
    many, index = middle - begin, 0
    while index < many:
        other_first[index] = first[begin + index]
        other_second[index] = second[begin + index]
        index += 1
    index = 0
    while index < many:
        if middle < end and comes_before(first[middle], second[middle], other_first[index], other_second[index]):
            first[begin] = first[middle]
            second[begin] = second[middle]
            middle += 1
        else:
            first[begin] = other_first[index]
            second[begin] = other_second[index]
            index += 1
        begin += 1


def power(base: float, exponent: float) -> float:
    """Return `base ** exponent`; infinity if it is too large, or for a negative power of zero."""
    value: float = pow(base, exponent)
    return value


def forget_last(first: Times, second: Numbers) -> None:
    """Remove the last pair; arrays need no change, as no code reads beyond the count."""


def insert_in_order(column: Numbers, value: int, low: int, high: int) -> None:
    """Insert a value behind smaller ones, between two indices; `high` is the number of values."""
    insert_number(column, high, number_before(column, value, low, high), value)
