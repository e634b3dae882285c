from sim.decisions.decisions import Backfill, Start
from sim.decisions.reasons import NewPlan, Planned
from sim.policies import parse_policy
from tests.sim.conftest import Lab


def test_plans_are_made_anew_without_promises(lab: Lab) -> None:
    # Job 2 is planned for 10 until job 3, which is shorter, arrives at 5.
    engine = lab.run("replan:order=sjf", 2, "1 0 2 10 10", "2 1 2 10 10", "3 5 2 5 5", until=5)
    planned = {queued.job.id: (queued.planned, queued.moved) for queued in engine.snapshot().queue}
    assert planned == {"3": (10, 0), "2": (15, 5)}
    engine.run()
    assert engine.schedule().start.tolist() == [0, 15, 10]
    assert not parse_policy("replan").promises()
    # Job 3 ends at 10, just when job 2 is planned to start.
    engine = lab.run("replan", 4, "1 0 3 10 10", "2 1 4 10 10", "3 2 1 8 8")
    assert engine.schedule().start.tolist() == [0, 10, 2]
    assert lab.start(engine, "1") == Start(engine.moment.jobs[0], Planned())
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], Planned())
    assert lab.reservations(engine, "2") == [(10, NewPlan())]
