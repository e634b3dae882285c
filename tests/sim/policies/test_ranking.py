"""Rankings of jobs: by number, of equals the latest first, in the objects and in the columns of the fast loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.kernel import arrays, suspension
from sim.machine import operations
from sim.policies.ranking import Ranking
from sim.workload.model import Job

JOBS = [Job(rank, str(rank), 0, 1, 10) for rank in range(9)]


@pytest.fixture(scope="module")
def over_arrays() -> Iterator[None]:
    """Let the operations on columns use the functions for arrays, as in the compiled module."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("insert_time", "insert_number", "remove_times", "remove_numbers"):
            patch.setattr(operations, name, getattr(arrays, name))
        yield


def test_of_equals_the_latest_is_the_lowest() -> None:
    ranking = Ranking()
    for rank, number in ((0, 2.0), (1, 1.0), (2, 2.0)):
        ranking.add(JOBS[rank], number)
    assert ranking.up() == [JOBS[1], JOBS[2], JOBS[0]]
    assert ranking.down() == [JOBS[0], JOBS[2], JOBS[1]]
    assert [ranking.place(JOBS[rank]) for rank in range(3)] == [3, 1, 2]
    ranking.remove(JOBS[2])
    assert ranking.up() == [JOBS[1], JOBS[0]]


@pytest.mark.usefixtures("over_arrays")
@pytest.mark.parametrize("is_emptied", [False, True])
@given(numbers=st.lists(st.sampled_from([0.5, 1.0, 2.0, float("inf")]), min_size=1, max_size=9), data=st.data())
def test_columns_have_the_same(is_emptied: bool, numbers: list[float], data: st.DataObject) -> None:
    ranking, columns = Ranking(), suspension.Ranking(len(JOBS))
    if is_emptied:
        columns.add(8, 3.0)
        columns.empty()
    for rank in data.draw(st.permutations(range(len(numbers)))):
        ranking.add(JOBS[rank], numbers[rank])
        columns.add(rank, numbers[rank])
    gone = data.draw(st.sampled_from(range(len(numbers))))
    assert ranking.place(JOBS[gone]) == columns.place(gone)
    ranking.remove(JOBS[gone])
    columns.remove(gone)
    assert [job.rank for job in ranking.up()] == ranks(columns.up())
    assert [job.rank for job in ranking.down()] == ranks(columns.down())


def ranks(column: Any) -> list[int]:
    return list(column)
