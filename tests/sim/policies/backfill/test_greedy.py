import pytest

from sim.decisions.decisions import Backfill
from sim.decisions.reasons import BestOfOrders
from tests.sim.conftest import Lab

# Four processors. Job 1 holds one until 100, the planned start of job 2, which needs all four; three are free.
JOBS = ("1 0 1 100 100", "2 0 4 10 10", "3 0 3 10 10", "4 0 1 10 10", "5 0 1 5 5", "6 0 1 10 10")


def test_the_order_in_which_most_jobs_start_is_taken(lab: Lab) -> None:
    engine = lab.run("greedy", 4, *JOBS, until=0)
    because = BestOfOrders(engine.moment.jobs[1], shadow=100, order="latest", many=3)
    assert lab.start(engine, "6") == Backfill(engine.moment.jobs[5], because)
    assert lab.starts("greedy", 4, *JOBS) == {"1": 0, "2": 100, "3": 10, "4": 0, "5": 0, "6": 0}


@pytest.mark.parametrize(("by", "first"), [("jobs", ["1", "4", "5", "6"]), ("area", ["1", "3"])])
def test_what_counts_may_be_said(lab: Lab, by: str, first: list[str]) -> None:
    starts = lab.starts(f"greedy:by={by}", 4, *JOBS)
    assert [job for job, at in starts.items() if not at] == first
