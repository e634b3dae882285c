"""Also tests sim.policies.backfill.bounds."""

from sim.decisions.reasons import WithinBounds
from tests.sim.conftest import Lab

# One processor, job 1 until 10. Conservative would promise job 2 (10 s) 10 and job 3 (5 s) 20.
ONE = ("1 0 1 10 10", "2 1 1 10 10", "3 2 1 5 5")


def test_bounds_are_kept_from_arrival_on(lab: Lab) -> None:
    assert lab.starts("easy:order=sjf", 1, *ONE) == {"1": 0, "3": 10, "2": 15}
    assert lab.starts("shadow:shadows=1", 1, *ONE) == {"1": 0, "2": 10, "3": 20}
    assert lab.run("shadow:shadows=1", 1, *ONE, until=9).present.notes["bound"] == {1: 10, 2: 20}
    # shadows = 14/9 makes job 2's bound 1 + 14 = 15 (a little less or more in doubles: so 1.56 and 1.55).
    assert lab.starts("shadow:shadows=1.56", 1, *ONE)["3"] == 10
    assert lab.starts("shadow:shadows=1.55", 1, *ONE)["3"] == 20
    # In whole numbers: job 2 arrives at 0, is promised 10, its bound is 20, and job 3 takes 10 s.
    assert lab.starts("shadow:shadows=2", 1, "1 0 1 10 10", "2 0 1 20 20", "3 0 1 10 10") == {"1": 0, "3": 10, "2": 20}
    # with shadows=0 every bound is the submit time, so no waiting job can be kept within it
    assert lab.starts("shadow:shadows=0", 1, *ONE) == {"1": 0, "3": 10, "2": 15}


def test_the_bound_is_a_multiple_of_the_promised_wait(lab: Lab) -> None:
    # Job 2 was promised a wait of 9 s: twice that is 19, and job 3 pushes it only to 15.
    engine = lab.run("shadow:shadows=2", 1, *ONE)
    assert engine.schedule().start.tolist() == [0, 15, 10]
    assert lab.start(engine, "3").because == WithinBounds(tightest=engine.moment.jobs[1], margin=4)
