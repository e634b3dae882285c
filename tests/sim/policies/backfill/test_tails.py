import pytest

from sim.policies.backfill.tails import TAILS, in_tail
from tests.sim.conftest import Lab


@pytest.mark.parametrize(
    ("tail", "order"),
    [("queue", "1234"), ("sjf", "2143"), ("ljf", "3412"), ("saf", "2413"), ("narrow", "4231"), ("wide", "1234"),
     ("latest", "4321")],
)  # fmt: skip
def test_ties_stand_as_in_the_queue(lab: Lab, tail: str, order: str) -> None:
    jobs = lab.workload(8, "1 0 4 10 10", "2 0 3 5 5", "3 0 3 30 30", "4 0 1 20 20").jobs
    assert "".join(job.id for job in in_tail(jobs, tail)) == order


def test_latest_arrival_is_first_if_jobs_wait_for_others(lab: Lab) -> None:
    first, *others = lab.workload(8, "1 0 4 10 10", "2 5 3 5 5", "3 5 3 30 30").jobs
    jobs = [*others, first.replaced(submit=9)]
    assert "".join(job.id for job in in_tail(jobs, "latest")) == "132"


def test_the_first_is_as_they_stand() -> None:
    assert TAILS[0] == "queue"
