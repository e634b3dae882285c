from sim.decisions.reasons import InOrder
from sim.decisions.reasons_to_wait import TooFewFree
from tests.sim.conftest import Lab

# Job 1 leaves one of four processors free; job 2 needs all four; job 3 would fit beside job 1.
BLOCKED = ("1 0 3 10 10", "2 1 4 10 10", "3 2 1 1 1")


def test_a_short_job_waits_behind_the_first_that_does_not_fit(lab: Lab) -> None:
    assert lab.starts("fcfs", 4, *BLOCKED) == {"1": 0, "2": 10, "3": 20}


def test_jobs_start_together_while_they_fit(lab: Lab) -> None:
    assert lab.starts("fcfs", 4, "1 0 3 10 10", "2 5 1 10 10", "3 5 1 10 10") == {"1": 0, "2": 5, "3": 10}


def test_a_start_says_how_many_processors_were_free(lab: Lab) -> None:
    assert lab.start(lab.run("fcfs", 4, *BLOCKED), "2").because == InOrder(free=4)


def test_only_the_first_job_was_considered_and_kept(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, *BLOCKED, until=2)
    assert lab.kept(engine, "2") == TooFewFree(free=1)
    assert lab.kept(engine, "3") is None


def test_with_an_order_the_front_is_another_job(lab: Lab) -> None:
    # At 10 the shortest goes first: 3, then 4, then 2.
    jobs = ("1 0 2 10 10", "2 1 2 9 9", "3 2 2 3 3", "4 3 2 5 5")
    assert lab.starts("fcfs:order=sjf", 2, *jobs) == {"1": 0, "3": 10, "4": 13, "2": 18}
