import pytest

from sim.decisions.decisions import Backfill, Start
from sim.decisions.reasons import Fits
from sim.decisions.reasons_to_wait import TooFewFree
from tests.sim.conftest import Lab


def test_a_long_job_passes_a_wide_one_and_delays_it(lab: Lab) -> None:
    # Job 3 fits beside job 1 and keeps the machine from job 2 until 102.
    jobs = ("1 0 3 10 10", "2 1 4 10 10", "3 2 1 100 100")
    engine = lab.run("firstfit", 4, *jobs)
    assert engine.schedule().start.tolist() == [0, 102, 2]
    assert lab.start(engine, "1") == Start(engine.moment.jobs[0], Fits(free=4))
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], Fits(free=1))
    assert engine.schedule().backfilled.tolist() == [False, False, True]


def test_a_job_that_does_not_fit_says_so(lab: Lab) -> None:
    engine = lab.run("firstfit", 4, "1 0 3 10 10", "2 1 2 10 10", until=1)
    assert lab.kept(engine, "2") == TooFewFree(free=1)


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        # At 10 three processors are free for the jobs of 2, 3 and 1 processors.
        ("fcfs", {"1": 0, "2": 10, "3": 20, "4": 10}),
        # Best fit: the three-processor job fills the machine, the others follow together.
        ("wide", {"1": 0, "2": 20, "3": 10, "4": 20}),
    ],
)
def test_best_fit_takes_the_widest_first(lab: Lab, order: str, starts: dict[str, float]) -> None:
    jobs = ("1 0 3 10 10", "2 1 2 10 10", "3 1 3 10 10", "4 1 1 10 10")
    assert lab.starts(f"firstfit:order={order}", 3, *jobs) == starts


@pytest.mark.parametrize(
    ("order", "starts"),
    [
        ("fcfs", {"1": 0, "2": 10, "3": 20, "4": 20}),
        # Worst fit: the narrow jobs start together and the wide one comes last.
        ("narrow", {"1": 0, "2": 20, "3": 10, "4": 10}),
    ],
)
def test_worst_fit_takes_the_narrowest_first(lab: Lab, order: str, starts: dict[str, float]) -> None:
    jobs = ("1 0 3 10 10", "2 1 3 10 10", "3 1 2 10 10", "4 1 1 10 10")
    assert lab.starts(f"firstfit:order={order}", 3, *jobs) == starts
