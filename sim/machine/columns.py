"""Columns of numbers as lists, for the interpreted loop; all values of a list are in use.

Compiled code uses `sim.kernel.arrays`, which has the same functions; `sim.machine.operations` uses either.
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
"""Type of a column of words. In compiled code, the columns are memory views of 64-bit doubles, of 32-, 64- and 8-bit
integers, and of unsigned 64-bit integers
"""
Processors: TypeAlias = int
"""Type of a set of processors as one large integer; compiled code keeps the Python object"""
Word: TypeAlias = int
"""Type of a word of a set; in compiled code an unsigned 64-bit integer"""


def column_of(kind: str, values: Any) -> Any:
    """Return an array of kind "d" or "i" as a column."""
    return values.tolist()


def times(count: int) -> Times:
    """Return a column of `count` times."""
    return [0.0] * count


def numbers(count: int) -> Numbers:
    """Return a column of `count` whole numbers."""
    return [0] * count


def words(count: int) -> Words:
    """Return a column of `count` empty words of 64 bits."""
    return [0] * count


def growing_times(most: int) -> Times:
    """Return an empty column for at most `most` times."""
    return []


def growing_numbers(most: int) -> Numbers:
    """Return an empty column for at most `most` whole numbers."""
    return []


def copy_times(column: Any, other: Any, count: int) -> None:
    """Copy the first `count` values of a column to another column."""
    other[:] = column


copy_numbers = copy_times


time_before = number_before = bisect_left
"""Function that returns the number of sorted values smaller than `value`, between `low` and `high`"""


def time_near(column: Any, value: float, near: int, count: int) -> int:
    """Return the number of the first `count` sorted values that are before `value`."""
    return bisect_left(column, value, 0, count)


time_up_to = bisect_right
"""Function that returns the number of sorted values that are at most `value`, between `low` and `high`"""


def most_first(column: Any, count: int, by: Any, into: Any) -> None:
    """Sort the first `count` numbers into `into`, the greatest by `by` first; of equals the last comes first."""
    backwards = column[count - 1 :: -1] if count else []
    into[:count] = sorted(backwards, key=by.__getitem__, reverse=True)


def whole_turns(time: float, slice: float) -> int:
    """Return the number of turns that have ended after `time` seconds, 0 for negative times."""
    return max(int(time // slice), 0)


def ends_in_order(
    now: float, by: float, ranks: Any, estimate: Any, ran: Any, count: int, ends: Any, order: Any
) -> None:
    """Compute the expected end of each job, with its remaining estimate times `by`, and sort the jobs by it.

    Equal ends keep their previous order if the number of jobs has not changed.
    """
    ends[:] = [now + (estimate[rank] - its) * by for rank, its in zip(ranks, ran, strict=True)]
    if len(order) != count:
        order[:] = range(count)
    order.sort(key=ends.__getitem__)


insert_in_order = insort_left
"""Function that inserts a value behind smaller ones, between two indices; the last is the number of values"""


def begin_steps(times: Any, numbers: Any, time: float, number: int) -> None:
    """Write the first step of both columns."""
    times[:] = (time,)
    numbers[:] = (number,)


def insert_time(column: Any, count: int, place: int, value: float) -> None:
    """Insert a value at that index."""
    column.insert(place, value)


insert_number = insert_time


def remove_times(column: Any, count: int, place: int, many: int) -> None:
    """Remove `many` values from index `place` on."""
    del column[place : place + many]


remove_numbers = remove_times


def set_numbers(column: Any, first: int, many: int, value: int) -> None:
    """Set `many` values from index `first` on, within the column."""
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
