from tests.sim.conftest import Lab

# Job 1 leaves one of four processors free; job 2 needs all four; job 3 would fit beside job 1.
BLOCKED = ("1 0 3 10 10", "2 1 4 10 10", "3 2 1 1 1")


def test_a_short_job_waits_behind_the_first_that_does_not_fit(lab: Lab) -> None:
    assert lab.starts("fcfs", 4, *BLOCKED) == {"1": 0, "2": 10, "3": 20}
