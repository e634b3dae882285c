"""The operations on the columns of a matrix give the same results on lists and on arrays.

Also tests sim.kernel.arrays, sim.machine.operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.kernel import arrays
from sim.machine import columns, operations
from sim.machine.moment import MOMENT

SECONDS = st.integers(0, 9).map(float)
ARRAY: Any = np.array
"""Maker of a column as the compiled loop has it; typed as Any, as the annotations expect lists"""
STANDING = st.lists(st.tuples(SECONDS, SECONDS, st.integers(0, 3)), min_size=1, max_size=9)


def with_room(values: Sequence[float], kind: str = "d") -> Any:
    """Return an array that begins with these values and ends with two unused entries."""
    return np.array([*values, -1, -1], kind)


@given(STANDING)
def test_who_stands_there_makes_progress(jobs: list[tuple[float, float, int]]) -> None:
    ran, whole, bands = map(list, zip(*jobs, strict=True))
    count, gain, need = len(jobs), [0.0, 1.5, 4.0, 2.0], [0.0] * len(jobs)
    its_ran, its_need = with_room(ran), with_room(need)
    least = operations.make_progress(its_ran, its_need, with_room(whole), count, ARRAY(gain), with_room(bands, "i"))
    assert operations.make_progress(ran, need, whole, count, gain, bands) == least == min(need)
    assert (its_ran[:count].tolist(), its_need[:count].tolist()) == (ran, need)
    place = operations.least_of(need, count)
    assert operations.least_of(its_need, count) == place == need.index(least)


def test_where_nobody_stands_nobody_needs_anything() -> None:
    assert operations.make_progress([], [], [], 0, [], []) == columns.INFINITE
    nothing = ARRAY([0.0])
    assert operations.make_progress(nothing, nothing, nothing, 0, nothing, ARRAY([0], "i")) == arrays.INFINITE


@given(STANDING)
def test_who_stands_there_ends_in_an_order(jobs: list[tuple[float, float, int]]) -> None:
    ran, estimate, _ = map(list, zip(*jobs, strict=True))
    count, ranks = len(jobs), list(range(len(jobs)))[::-1]
    ends, order = with_room([0.0] * count), with_room([0] * count, "i")
    arrays.ends_in_order(5, 3, ARRAY(ranks), ARRAY(estimate), with_room(ran), count, ends, order)
    assert ends[:count].tolist() == [5 + (estimate[r] - its) * 3 for r, its in zip(ranks, ran, strict=True)]
    assert [ends[place] for place in order[:count]] == sorted(ends[:count])


def test_who_stands_there_is_found() -> None:
    assert operations.place_of([7, 4, 9], 3, 9) == operations.place_of(ARRAY([7, 4, 9, 0]), 3, 9) == 2


PARTS = st.one_of(
    st.integers(0, 4000).map(float), st.floats(0, 1e7), st.integers(0, 10**9).map(lambda tenths: tenths / 10)
)
A_TURN = st.one_of(st.sampled_from([0.1, 0.3, 1.0, 2.5, 200.0]), st.floats(0.001, 1000))


@given(PARTS, A_TURN)
def test_turns_are_counted_as_python_divides(seconds: float, a_turn: float) -> None:
    assert arrays.whole_turns(seconds, a_turn) == columns.whole_turns(seconds, a_turn)
    if seconds % 1 == a_turn % 1 == 0:
        assert operations.turns_for(seconds, a_turn) == -(-seconds // a_turn)
    else:
        assert operations.turns_for(seconds, a_turn) == ceil((seconds - MOMENT) / a_turn)


@given(PARTS, A_TURN, st.sampled_from([0.0, 0.1, 0.5]), st.integers(2, 5), st.data())
def test_rows_make_the_same_progress(gone: float, a_turn: float, lost: float, count: int, data: st.DataObject) -> None:
    now, made, its_made = data.draw(st.integers(0, count - 1)), [0.0] * count, with_room([0.0] * count)
    operations.count_progress(gone, a_turn, lost * a_turn, count, now, made)
    operations.count_progress(gone, a_turn, lost * a_turn, count, now, its_made)
    assert its_made[:count].tolist() == made
    ended, rest = divmod(gone, a_turn)
    for row in range(count):
        turns = ended // count + ((row - now) % count < ended % count)
        is_on_turn = (now + ended) % count == row
        assert made[row] == pytest.approx(turns * (1 - lost) * a_turn + is_on_turn * max(rest - lost * a_turn, 0))
    share, its_share = [0.0] * count, with_room([0.0] * count)
    operations.differences(made, list(range(count)), count, share)
    operations.differences(its_made, ARRAY(range(count)), count, its_share)
    assert its_share[:count].tolist() == share
    places = tuple(data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True)))
    assert operations.sum_at(its_made, places) == operations.sum_at(made, places)
    order, weights = data.draw(st.permutations(range(count))), list(range(7, 7 + count))
    found = operations.sum_of_products(ARRAY(weights), ARRAY(order), its_made, count)
    assert found == operations.sum_of_products(weights, order, made, count)


@given(st.lists(SECONDS, unique=True).map(sorted), SECONDS, st.integers(0, 12))
def test_how_many_are_before_that_is_found_from_anywhere(at: list[float], value: float, near: int) -> None:
    before = sum(time < value for time in at)
    assert columns.time_near(at, value, near, len(at)) == before
    assert arrays.time_near(with_room(at), value, near, len(at)) == before


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(-7, 7), st.integers(0, 7))
def test_what_is_set_beyond_a_column_is_not_written(values: list[int], first: int, many: int) -> None:
    """Entries outside of a column are not written; they can be asked for if ends in a plan differ by less than a
    microsecond.
    """
    inside = [-1 if first <= place < first + many else value for place, value in enumerate(values)]
    array = ARRAY(values, "i")
    arrays.set_numbers(array, first, many, -1)
    assert array.tolist() == inside


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1))
def test_lowest_bit_and_quotient(word: int, many: int, each: int) -> None:
    lowest = columns.lowest_bit(word)
    assert word >> lowest & 1
    assert word % 2**lowest == 0
    assert columns.quotient(many, each) == many // each
