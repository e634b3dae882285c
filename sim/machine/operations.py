"""Operations on columns of numbers, written once for Python lists (`columns`) and for compiled arrays
(`sim.kernel.arrays`).

The parameter `count` is the number of values of a column that are in use, at its beginning.
"""

from __future__ import annotations

from sim.machine.columns import (
    INFINITE,
    Numbers,
    Times,
    insert_number,
    insert_time,
    remove_numbers,
    remove_times,
    time_before,
    whole_turns,
)
from sim.machine.moment import MOMENT


def least_of(column: Times, count: int) -> int:
    """Return the index of the smallest of the first `count` values; if several are equal, the lowest index."""
    place = 0
    for index in range(1, count):
        if column[index] < column[place]:
            place = index
    return place


def place_of(column: Numbers, count: int, value: int) -> int:
    """Return the index of `value` in the column, which must contain it among its first `count` values."""
    place = 0
    while column[place] != value:
        place += 1
    return place


def places_up_to(column: Times, count: int, value: float, places: Numbers) -> int:
    """Write the indices of the values that are at most `value`, among the first `count`, into `places`; return how many
    there are.
    """
    found = 0
    for place in range(count):
        if column[place] <= value:
            places[found] = place
            found += 1
    return found


def are_same(column: Numbers, other: Numbers, count: int) -> bool:
    """Return True if the first `count` values of both columns are equal."""
    index = 0
    while index < count and column[index] == other[index]:
        index += 1
    return index == count


def common_pairs(
    first: Numbers, second: Numbers, count: int, other: Numbers, other_second: Numbers, other_count: int
) -> int:
    """Return how many pairs at the beginning of two lists of pairs are equal. One list is in the columns `first` and
    `second`, with `count` pairs. The other is in `other` and `other_second`, with `other_count` pairs.
    """
    same = 0
    while same < count and same < other_count and first[same] == other[same] and second[same] == other_second[same]:
        same += 1
    return same


def add_job(
    ranks: Numbers,
    bands: Numbers,
    ran: Times,
    whole: Times,
    need: Times,
    count: int,
    rank: int,
    its_ran: float,
    its_whole: float,
) -> None:
    """Append the job `rank` to the columns that describe the jobs in the matrix, with `its_ran` of its `its_whole`
    seconds done. Its band (group of jobs in the same rows) is set to 0 for now.
    """
    insert_number(ranks, count, count, rank)
    insert_number(bands, count, count, 0)
    insert_time(ran, count, count, its_ran)
    insert_time(whole, count, count, its_whole)
    insert_time(need, count, count, its_whole - its_ran)


def remove_job(ranks: Numbers, bands: Numbers, ran: Times, whole: Times, need: Times, count: int, place: int) -> None:
    """Remove the job at index `place` from the columns that describe the `count` jobs in the matrix."""
    remove_numbers(ranks, count, place, 1)
    remove_numbers(bands, count, place, 1)
    remove_times(ran, count, place, 1)
    remove_times(whole, count, place, 1)
    remove_times(need, count, place, 1)


def make_progress(ran: Times, need: Times, whole: Times, count: int, gain: Times, which: Numbers) -> float:
    """Add to each job's progress `ran` the progress `gain` of its band (group of jobs in the same rows); return the
    smallest remaining need.

    `which` has the band of each job. The remaining need of each job, `whole` minus `ran` seconds, is written into
    `need`.
    """
    least = INFINITE
    for index in range(count):
        ran[index] += gain[which[index]]
        need[index] = whole[index] - ran[index]
        if need[index] < least:
            least = need[index]
    return least


def differences(first: Times, second: Times, count: int, into: Times) -> None:
    """Write `first` minus `second`, for the first `count` values of both columns, into `into`."""
    for index in range(count):
        into[index] = first[index] - second[index]


def sum_at(column: Times, places: tuple[int, ...]) -> float:
    """Return the sum of the column's values at these indices, added in the given order (which decides the rounding)."""
    place: int
    total = 0.0
    for place in places:
        total += column[place]
    return total


def sum_of_products(column: Numbers, places: Numbers, by: Times, count: int) -> float:
    """Return the sum of `column[places[i]] * by[i]` over the first `count` values of i."""
    total = 0.0
    for index in range(count):
        total += column[places[index]] * by[index]
    return total


def remove_number(column: Numbers, count: int, place: int) -> None:
    """Remove the value at index `place` from a column with `count` values."""
    remove_numbers(column, count, place, 1)


def insert_pair(first: Times, second: Numbers, count: int, value: float, number: int) -> int:
    """Insert the pair (value, number) into two columns that hold sorted pairs; return its index."""
    place = time_before(first, value, 0, count)
    while place < count and first[place] == value and second[place] < number:
        place += 1
    insert_time(first, count, place, value)
    insert_number(second, count, place, number)
    return place


def remove_pair(first: Times, second: Numbers, count: int, value: float, number: int) -> int:
    """Remove the pair (value, number) from two columns that hold sorted pairs; return the index that it had."""
    place = time_before(first, value, 0, count)
    while place < count and second[place] != number:
        place += 1
    remove_times(first, count, place, 1)
    remove_numbers(second, count, place, 1)
    return place


def move_pair(first: Times, second: Numbers, count: int, was: float, value: float, number: int) -> None:
    """Replace the pair (was, number), in two columns that hold sorted pairs, by the smaller pair (value, number); the
    columns stay sorted.
    """
    place = time_before(first, was, 0, count)
    while second[place] != number:
        place += 1
    remove_times(first, place + 1, place, 1)
    remove_numbers(second, place + 1, place, 1)
    insert_pair(first, second, place, value, number)


def insert_three(
    first: Times, second: Numbers, third: Numbers, count: int, value: float, number: int, more: int
) -> None:
    """Insert the pair (value, number) into two columns that hold sorted pairs, and `more` into a third column at the
    same index.
    """
    place = insert_pair(first, second, count, value, number)
    insert_number(third, count, place, more)


def remove_three(first: Times, second: Numbers, third: Numbers, count: int, value: float, number: int) -> None:
    """Remove the pair (value, number) from two columns that hold sorted pairs, and the value of a third column at the
    same index.
    """
    place = remove_pair(first, second, count, value, number)
    remove_numbers(third, count, place, 1)


def insert_range(first: Numbers, last: Numbers, count: int, place: int, one: int, other: int) -> None:
    """Insert the range from `one` to `other` at index `place` of a list of `count` ranges. The columns `first` and
    `last` have the first and last number of each range.
    """
    insert_number(first, count, place, one)
    insert_number(last, count, place, other)


def remove_ranges(first: Numbers, last: Numbers, count: int, place: int, many: int) -> None:
    """Remove `many` ranges, from index `place` on, from a list of `count` ranges. The columns `first` and `last` have
    the first and last number of each range.
    """
    remove_numbers(first, count, place, many)
    remove_numbers(last, count, place, many)


def turns_for(work: float, a_turn: float) -> int:
    """Return how many turns, each with `a_turn` seconds of progress, are needed for `work` seconds of progress."""
    if work % 1 or a_turn % 1:
        turns = (work - MOMENT) / a_turn
        whole: int = int(turns)
        return whole + 1 if whole < turns else whole
    whole = whole_turns(work, a_turn)
    return whole + 1 if work > whole * a_turn else whole


def count_progress(gone: float, slice: float, overhead: float, count: int, now: int, made: Times) -> None:
    """Write into `made`, for each row, its progress in seconds since the active row's turn began, which was `gone`
    seconds ago.

    There are `count` rows, and `now` is the index of the row that was active at that begin. Each turn lasts `slice`
    seconds, of which the first `overhead` make no progress.
    """
    ended, a_turn = whole_turns(gone, slice), slice - overhead
    cycles = ended // count
    more = ended - cycles * count
    for index in range(count):
        made[(now + index) % count] = (cycles + 1 if index < more else cycles) * a_turn
    rest = gone - ended * slice - overhead
    if rest > 0:
        made[(now + more) % count] += rest
