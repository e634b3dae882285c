"""Columns that are lists and columns that are arrays say the same of what stands in a matrix.

Also tests sim.kernel.arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.kernel import arrays, columns

SECONDS = st.integers(0, 9).map(float)
STANDING = st.lists(st.tuples(SECONDS, SECONDS, st.integers(0, 3)), min_size=1, max_size=9)


def with_room(values: Sequence[float], kind: str = "d") -> np.ndarray:
    """An array with these values at its beginning, and what is not in use behind them."""
    return np.array([*values, -1, -1], kind)


@given(STANDING)
def test_who_stands_there_makes_progress(jobs: list[tuple[float, float, int]]) -> None:
    ran, whole, bands = map(list, zip(*jobs, strict=True))
    count, gain, need = len(jobs), [0.0, 1.5, 4.0, 2.0], [0.0] * len(jobs)
    its_ran, its_need = with_room(ran), with_room(need)
    least = arrays.make_progress(its_ran, its_need, with_room(whole), count, np.array(gain), with_room(bands, "i"))
    assert columns.make_progress(ran, need, whole, count, gain, bands) == least == min(need)
    assert (its_ran[:count].tolist(), its_need[:count].tolist()) == (ran, need)
    place = columns.least_of(need, count)
    assert arrays.least_of(its_need, count) == place == need.index(least)


def test_where_nobody_stands_nobody_needs_anything() -> None:
    assert columns.make_progress([], [], [], 0, [], []) == columns.INFINITE
    nothing = np.zeros(1)
    assert arrays.make_progress(nothing, nothing, nothing, 0, nothing, np.zeros(1, "i")) == arrays.INFINITE


@given(STANDING)
def test_who_stands_there_ends_in_an_order(jobs: list[tuple[float, float, int]]) -> None:
    ran, estimate, _ = map(list, zip(*jobs, strict=True))
    count, ranks, ends, order = len(jobs), list(range(len(jobs)))[::-1], [0.0] * len(jobs), [0] * len(jobs)
    its_ends, its_order = with_room(ends), with_room(order, "i")
    columns.ends_in_order(5, 3, ranks, estimate, ran, count, ends, order)
    arrays.ends_in_order(5, 3, np.array(ranks), np.array(estimate), with_room(ran), count, its_ends, its_order)
    assert ends == its_ends[:count].tolist() == [5 + (estimate[r] - its) * 3 for r, its in zip(ranks, ran, strict=True)]
    assert [ends[place] for place in order] == sorted(ends)
    assert order == its_order[:count].tolist()


def test_who_stands_there_is_found() -> None:
    assert columns.place_of([7, 4, 9], 3, 9) == arrays.place_of(np.array([7, 4, 9, 0]), 3, 9) == 2
