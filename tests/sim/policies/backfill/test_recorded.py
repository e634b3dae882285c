from sim.decisions.reasons import AsRecorded
from sim.decisions.reasons_to_wait import NotYet, TooFewFree
from tests.sim.conftest import Lab

# Two processors; the last field is the recorded wait. Job 1 is due at 5, job 2 at 8, of job 3 nothing is known.
JOBS = ("1 0 2 10 10 -1 5", "2 0 1 10 10 -1 8", "3 0 1 5 5")


def test_jobs_start_as_recorded(lab: Lab) -> None:
    engine = lab.run("recorded", 2, *JOBS)
    assert engine.schedule().start.tolist() == [5, 15, 0]
    assert lab.start(engine, "1").because == AsRecorded(recorded=5, late=0)
    assert lab.start(engine, "2").because == AsRecorded(recorded=8, late=7)
    assert lab.start(engine, "3").because == AsRecorded(recorded=None, late=0)
    assert lab.instants(lab.run("recorded", 1, "1 0 1 10 10 -1 7")) == [0, 7, 17]
    engine = lab.run("recorded", 2, *JOBS, until=0)
    assert lab.kept(engine, "1") == NotYet(recorded=5)
    engine.run(until=8)
    assert lab.kept(engine, "2") == TooFewFree(free=0)
