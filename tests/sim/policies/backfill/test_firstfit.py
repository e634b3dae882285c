from sim.decisions.decisions import Backfill, Start
from sim.decisions.reasons import Fits
from tests.sim.conftest import Lab


def test_a_long_job_passes_a_wide_one_and_delays_it(lab: Lab) -> None:
    # Job 3 fits beside job 1 and keeps the machine from job 2 until 102.
    jobs = ("1 0 3 10 10", "2 1 4 10 10", "3 2 1 100 100")
    engine = lab.run("firstfit", 4, *jobs)
    assert engine.schedule().start.tolist() == [0, 102, 2]
    assert lab.start(engine, "1") == Start(engine.moment.jobs[0], Fits(free=4))
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], Fits(free=1))
    assert engine.schedule().backfilled.tolist() == [False, False, True]
