"""Arrays of numbers for the compiled fast loop. In the whole loop such an array is called a column; its first `count`
values are in use.

Functions of the same names in `sim.machine.columns` do the same for lists, for rules that are not compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.machine.columns import Numbers, Times, Words

INFINITE = float("inf")
A_RUN = 16
"""Longest sequence that is sorted by insertion; longer ones are merged from such sequences"""


def times(count: int) -> Times:
    """Return a new column for `count` times, which takes no memory before it is written."""
    zeros: Any = np.zeros(count)
    column: Times = zeros
    return column


def numbers(count: int) -> Numbers:
    """Return a new column of `count` whole numbers."""
    zeros: Any = np.zeros(count, np.int32)
    column: Numbers = zeros
    return column


def words(count: int) -> Words:
    """Return a new column of `count` words of 64 bits, all 0."""
    zeros: Any = np.zeros(count, np.uint64)
    column: Words = zeros
    return column


def growing_times(most: int) -> Times:
    """Return an empty column to which up to `most` times will be added."""
    return times(most + 2)


def growing_numbers(most: int) -> Numbers:
    """Return an empty column to which up to `most` whole numbers will be added."""
    return numbers(most + 2)


def copy_times(column: Times, other: Times, count: int) -> None:
    """Copy the first `count` times of `column` to the beginning of `other`."""
    for index in range(count):
        other[index] = column[index]


def copy_numbers(column: Numbers, other: Numbers, count: int) -> None:
    """Copy the first `count` whole numbers of `column` to the beginning of `other`."""
    for index in range(count):
        other[index] = column[index]


def time_before(column: Times, value: float, low: int, high: int) -> int:
    """Return the index, between `low` and `high`, of the first value in a sorted column that is not smaller than
    `value`.
    """
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def time_near(column: Times, value: float, near: int, count: int) -> int:
    """Return how many of the first `count` values of a sorted column are smaller than `value`, searching from the index
    `near`.
    """
    while near > count or (near and column[near - 1] >= value):
        near -= 1
    while near < count and column[near] < value:
        near += 1
    return near


def time_up_to(column: Times, value: float, low: int, high: int) -> int:
    """Return the index, between `low` and `high`, of the first value in a sorted column that is greater than
    `value`.
    """
    while low < high:
        middle = (low + high) >> 1
        if value < column[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def number_before(column: Numbers, value: int, low: int, high: int) -> int:
    """Return the index, between `low` and `high`, of the first value in a sorted column that is not smaller than
    `value`.
    """
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def most_first(column: Numbers, count: int, by: Numbers, into: Numbers) -> None:
    """Write the first `count` numbers of `column` into `into`, sorted by `by[number]` from the greatest to the
    smallest. Of equals the last in `column` comes first.
    """
    for index in range(count):
        number, place = column[count - 1 - index], index
        while place and by[into[place - 1]] < by[number]:
            into[place] = into[place - 1]
            place -= 1
        into[place] = number


def whole_turns(time: float, slice: float) -> int:
    """Return the number of whole turns of `slice` seconds in `time` seconds, rounded exactly as `//` in Python; 0 for
    negative times.
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
    """Write the expected end of each job into `ends`, and the indices of the jobs in the order of these ends into
    `order`.

    The end of the job at index i of `ranks` is now + (estimate - ran[i]) * `by`; the factor `by` says how much sharing
    the time slows jobs down.
    """
    for index in range(count):
        ends[index] = now + (estimate[ranks[index]] - ran[index]) * by
        place = index
        while place and ends[order[place - 1]] > ends[index]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = index


def insert_time(column: Times, count: int, place: int, value: float) -> None:
    """Insert the time `value` at index `place` of a column with `count` values."""
    while count > place:
        column[count] = column[count - 1]
        count -= 1
    column[place] = value


def insert_number(column: Numbers, count: int, place: int, value: int) -> None:
    """Insert the number `value` at index `place` of a column with `count` values."""
    while count > place:
        column[count] = column[count - 1]
        count -= 1
    column[place] = value


def remove_times(column: Times, count: int, place: int, many: int) -> None:
    """Remove `many` times from index `place` on, of a column with `count` values."""
    while place + many < count:
        column[place] = column[place + many]
        place += 1


def remove_numbers(column: Numbers, count: int, place: int, many: int) -> None:
    """Remove `many` numbers from index `place` on, of a column with `count` values."""
    while place + many < count:
        column[place] = column[place + many]
        place += 1


def insert_step(times: Times, numbers: Numbers, count: int, place: int, time: float, number: int) -> None:
    """Insert a time and a number at index `place` of two columns with `count` values."""
    insert_time(times, count, place, time)
    insert_number(numbers, count, place, number)


def remove_step(times: Times, numbers: Numbers, count: int, place: int) -> None:
    """Remove the entries at index `place` from two columns with `count` values."""
    remove_times(times, count, place, 1)
    remove_numbers(numbers, count, place, 1)


def set_numbers(column: Numbers, first: int, many: int, value: int) -> None:
    """Set `many` values of the column to `value`, from index `first` on."""
    for place in range(max(first, 0), min(first + many, len(column))):
        column[place] = value


def comes_before(value: float, number: int, other: float, than: int) -> bool:
    """Return True if the pair (value, number) sorts before the pair (other, than)."""
    return value < other or (value == other and number < than)


def sort_pairs(first: Times, second: Numbers, count: int, other_first: Times, other_second: Numbers) -> None:
    """Sort `count` pairs, stored in two columns, in ascending order; the other two columns are working space. Sorting
    is fast if the pairs are nearly sorted.
    """
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
    """Merge two neighbouring sorted sequences of pairs: indices `begin` to `middle`, and `middle` to `end`. The other
    two columns are working space.
    """
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


def insert_in_order(column: Numbers, value: int, low: int, high: int) -> None:
    """Insert a number into a sorted column; its index is searched between `low` and `high`, the number of values in
    use.
    """
    insert_number(column, high, number_before(column, value, low, high), value)
