from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.support.errors import ParameterError, SchedscopeError
from sim.workload.model import Field
from tests.sim.conftest import Lab
from tui.replay.requests import GoTo, GoToJob, GoToTime, Order, find_job, parse_place

USERS = replace(
    Lab().workload(4, "3 0 1 10 10", "17 5 2 10 10", "200 9 1 1 1", "7 9 1 1 1"),
    user=np.array([0, 1, 0, 1]), names={Field.USER: ("ann", "[/x] bob")},
)  # fmt: skip
WORKLOAD = Lab().workload(4, "3 0 1 10 10", "17 5 2 10 10", "200 9 1 1 1")
DAY = 86400


@pytest.mark.parametrize(("typed", "place"), [
    ("#1200", GoTo(1200)), ("# 1,200", GoTo(1200)), ("step 7", GoTo(7)), ("Step 7", GoTo(7)), ("J17", GoToJob(1)),
    ("j 17", GoToJob(1)), ("job 17", GoToJob(1)), ("J17 starts", GoToJob(1, start=True)),
    ("job 17  start ", GoToJob(1, start=True)), ("J17 submitted", GoToJob(1)), ("4:30", GoToTime(16200)),
    ("04:30:07", GoToTime(16207)), ("d12 04:30", GoToTime(12 * DAY + 16200)), ("12d 4:30", GoToTime(12 * DAY + 16200)),
    ("d12", GoToTime(12 * DAY)), ("12d", GoToTime(12 * DAY)), ("12d 4h", GoToTime(12 * DAY + 4 * 3600)),
    ("3600", GoToTime(3600)), ("1.5h", GoToTime(5400)),
])  # fmt: skip
def test_places(typed: str, place: Order) -> None:
    assert parse_place(typed, WORKLOAD) == place


@pytest.mark.parametrize(
    "typed", ["", "soon", "#", "#,", "# ,,", "step", "4:3", "nan", "inf", "d", "12x", "-5", "4:75"]
)
def test_what_is_no_place_gets_examples(typed: str) -> None:
    with pytest.raises(ParameterError, match=r"cannot go to .*: expected a time \(12d 4h, d12 04:30\), a step"):
        parse_place(typed, WORKLOAD)


def test_jobs_are_found_or_not() -> None:
    with pytest.raises(SchedscopeError, match="no job 'J18'"):
        parse_place("J18", WORKLOAD)
    workload = replace(WORKLOAD, ids=("3", "jane", "200"))
    assert find_job("jane", workload, -1) == 1
    assert parse_place("jane starts", workload) == parse_place("job jane starts", workload) == GoToJob(1, start=True)
    with pytest.raises(ParameterError, match=r"no job of a user 'anne'; did you mean 'ann'\?"):
        find_job("user anne", USERS, -1)


@given(st.text(max_size=12) | st.from_regex(r"[#jd0-9:, ]{0,12}", fullmatch=True))
def test_whatever_is_typed_is_a_place_or_refused_in_words(typed: str) -> None:
    with suppress(SchedscopeError):
        assert isinstance(parse_place(typed, WORKLOAD), GoTo | GoToTime | GoToJob)


@pytest.mark.parametrize("typed", ["17", "J17", "j 17", " 17 "])
def test_a_job_by_its_number(typed: str) -> None:
    assert find_job(typed, WORKLOAD, -1) == 1


@pytest.mark.parametrize("typed", ["", "J", "18", "J18"])
def test_what_is_no_job(typed: str) -> None:
    with pytest.raises(SchedscopeError, match=f"no job '{typed}'"):
        find_job(typed, WORKLOAD, -1)


@pytest.mark.parametrize(
    ("typed", "after", "rank"),
    [("ann", -1, 0), ("ann", 0, 2), ("ann", 2, 0), ("user ann", 1, 2), ("User: [/x] bob", -1, 1), ("7", -1, 3)],
)
def test_of_a_user_the_next_job_is_found(typed: str, after: int, rank: int) -> None:
    assert find_job(typed, USERS, after) == rank
