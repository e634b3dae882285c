"""Columns of numbers where the loop runs as it is: lists, of which all is in use.

Compiled code uses `sim.kernel.arrays`, which has the same functions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort_left
from operator import sub
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


def least_of(column: Any, count: int) -> int:
    """Return the place of the least of the first `count`, of equals the first."""
    place: int = column.index(min(column))
    return place


def place_of(column: Any, count: int, value: int) -> int:
    """Return the place of the value among the first `count`."""
    place: int = column.index(value)
    return place


def places_up_to(column: Any, count: int, value: float, places: Any) -> int:
    """Write the places of values up to `value`, among the first `count`, into `places`; return their number."""
    found = [place for place, its in enumerate(column) if its <= value]
    places[: len(found)] = found
    return len(found)


def most_first(column: Any, count: int, by: Any, into: Any) -> None:
    """Sort the first `count` into `into`, the greatest by `by` first, of equals the last first."""
    backwards = column[count - 1 :: -1] if count else []
    into[:count] = sorted(backwards, key=by.__getitem__, reverse=True)


def are_same(column: Any, other: Any, count: int) -> bool:
    """Return True if the first `count` values of both columns are equal."""
    is_so: bool = column[:count] == other[:count]
    return is_so


def common_pairs(first: Any, second: Any, count: int, other: Any, other_second: Any, other_count: int) -> int:
    """Return how many pairs at the beginning are the same."""
    many, same = min(count, other_count), 0
    if first[:many] == other[:many] and second[:many] == other_second[:many]:
        return many
    while first[same] == other[same] and second[same] == other_second[same]:
        same += 1
    return same


def add_job(
    ranks: Any, bands: Any, ran: Any, whole: Any, need: Any, count: int, rank: int, its_ran: float, its_whole: float
) -> None:
    """Append a job of the matrix, not in any band yet."""
    ranks.append(rank)
    bands.append(0)
    ran.append(its_ran)
    whole.append(its_whole)
    need.append(its_whole - its_ran)


def remove_job(ranks: Any, bands: Any, ran: Any, whole: Any, need: Any, count: int, place: int) -> None:
    """Remove a job."""
    del ranks[place], bands[place], ran[place], whole[place], need[place]


def make_progress(ran: Any, need: Any, whole: Any, count: int, gain: Any, which: Any) -> float:
    """Advance each job by the gain in its band's place, and compute its remaining need; return the least need."""
    ran[:] = [its + gain[band] for its, band in zip(ran, which, strict=True)]
    need[:] = map(sub, whole, ran)
    return min(need) if need else INFINITE


turns_for, count_progress = turns.turns_for, turns.count_progress


def whole_turns(time: float, slice: float) -> int:
    """Return how many turns have ended after so long, none where time is not over."""
    return int(time // slice)


def differences(first: Any, second: Any, count: int, into: Any) -> None:
    """Write the differences of the first `count` values of two columns."""
    into[:] = map(sub, first, second)


def sum_at(column: Any, places: tuple[int, ...]) -> float:
    """Return the sum of the values at these places, added in this order."""
    total = 0.0
    for place in places:
        total += column[place]
    return total


def sum_of_products(column: Any, places: Any, by: Any, count: int) -> float:
    """Return the sum of products of the column at the first `count` places and `by`."""
    total = 0.0
    for place, its in zip(places, by, strict=False):
        total += column[place] * its
    return total


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


def insert_pair(first: Any, second: Any, count: int, value: float, number: int) -> int:
    """Return one more pair, in order; where it is."""
    place = bisect_left(first, value)
    while place < count and first[place] == value and second[place] < number:
        place += 1
    first.insert(place, value)
    second.insert(place, number)
    return place


def remove_pair(first: Any, second: Any, count: int, value: float, number: int) -> int:
    """Remove a pair from sorted ones; return its place."""
    place = bisect_left(first, value)
    while second[place] != number:
        place += 1
    del first[place], second[place]
    return place


def move_pair(first: Any, second: Any, count: int, was: float, value: float, number: int) -> None:
    """Move a pair of sorted ones to an earlier place."""
    remove_pair(first, second, count, was, number)
    insert_pair(first, second, count - 1, value, number)


def insert_three(first: Any, second: Any, third: Any, count: int, value: float, number: int, more: int) -> None:
    """Insert a pair in order, with its third value."""
    place = bisect_left(first, value)
    while place < count and first[place] == value and second[place] < number:
        place += 1
    first.insert(place, value)
    second.insert(place, number)
    third.insert(place, more)


def remove_three(first: Any, second: Any, third: Any, count: int, value: float, number: int) -> None:
    """Remove a pair from sorted ones, with its third value."""
    place = bisect_left(first, value)
    while second[place] != number:
        place += 1
    del first[place], second[place], third[place]


insert_in_order = insort_left
"""Insert a value behind smaller ones, between two places; the last is the number of values"""


def begin_steps(times: Any, numbers: Any, time: float, number: int) -> None:
    """Begin both columns with one step."""
    times[:] = (time,)
    numbers[:] = (number,)


def insert_step(times: Any, numbers: Any, count: int, place: int, time: float, number: int) -> None:
    """Insert a step into both columns at that place."""
    times.insert(place, time)
    numbers.insert(place, number)


insert_range = insert_step


def remove_step(times: Any, numbers: Any, count: int, place: int) -> None:
    """Remove a step from both columns."""
    del times[place], numbers[place]


def remove_number(column: Any, count: int, place: int) -> None:
    """Remove a value."""
    del column[place]


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


def remove_ranges(first: Any, last: Any, count: int, place: int, many: int) -> None:
    """Remove `many` ranges from `place` on."""
    if many == 1:
        del first[place], last[place]
    else:
        del first[place : place + many], last[place : place + many]


def sort_pairs(first: Any, second: Any, count: int, other_first: Any, other_second: Any) -> None:
    """Sort `count` pairs, by the second number if the first are equal."""
    pairs = sorted(zip(first[:count], second[:count], strict=True))
    first[:count] = [value for value, _ in pairs]
    second[:count] = [number for _, number in pairs]


def forget_last(first: Any, second: Any) -> None:
    """Remove the last pair."""
    first.pop()
    second.pop()
