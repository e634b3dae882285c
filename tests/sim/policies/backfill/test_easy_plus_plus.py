from dataclasses import replace

import numpy as np
import pytest

from sim.decisions.decisions import Backfill
from sim.decisions.reasons import PredictedBefore
from sim.decisions.reasons_to_wait import PredictedToDelay
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.workload.limits import Bound, Limits
from tests.sim.conftest import Lab

# Four processors. User 0's first jobs run 10 and 20 of their 100 seconds, so the third is predicted to run 15, until
# 45; the head, job 4, is planned for then. The users of the other jobs are unknown.
JOBS = ("1 0 4 10 100", "2 10 4 20 100", "3 30 3 20 100", "4 31 4 10 100", "5 32 1 5 14", "6 33 1 12 12")
USERS = np.array([0, 0, 0, -1, -1, -1])


def engine_of(lab: Lab, spec: str = "easy++") -> Engine:
    return Engine(replace(lab.workload(4, *JOBS), user=USERS), spec, watchers=[Checker])


@pytest.mark.parametrize("correct", ["steps", "estimate"])
def test_overrun_prediction_moves_the_head(lab: Lab, correct: str) -> None:
    engine = engine_of(lab, f"easy++:correct={correct}")
    engine.run(until=32)
    head = engine.moment.jobs[3]
    assert lab.kept(engine, "5") == PredictedToDelay(head, shadow=45, ends=46, extra=0)
    engine.run(until=33)
    assert lab.start(engine, "6") == Backfill(engine.moment.jobs[5], PredictedBefore(head, shadow=45, ends=45))
    assert engine.moment.reserved == {3: 45}
    engine.run(until=45)  # job 3 still runs: its predicted end moves by a minute, or to its estimate
    assert engine.moment.reserved == {3: 105 if correct == "steps" else 130}
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 30, 50, 45, 33]


def test_who_takes_over_knows_how_long_jobs_ran_before(lab: Lab) -> None:
    engine = engine_of(lab, "fcfs")
    engine.run(until=31)
    engine.switch("easy++", 31.5)
    assert engine.moment.reserved == {3: 45}
    engine.run()
    assert engine.moment.left == 0


def test_started_head_leaves_no_timer_behind(lab: Lab) -> None:
    """Job 2 is planned for 1000, the expected end of job 1, but starts at 10 when job 1 ends. So there is no pass at
    1000."""
    engine = Engine(lab.workload(4, "1 0 4 10 1000", "2 1 4 5 5"), "easy++")
    engine.run()
    assert lab.instants(engine) == [0, 1, 10, 15]


def test_pass_repeated_at_a_limit_counts_a_completed_job_once(lab: Lab) -> None:
    """At 10 the start of J2 brings its user to the limit, which holds J3 back: the pass is repeated without it."""
    limits = Limits((Bound("QOSMaxJobsPerUserLimit", 1, "jobs", "user b"),), ((), ((0, 1),), ((0, 1),)), ((), (), ()))
    workload = lab.workload(4, "1 0 4 10 10", "2 0 1 5 5", "3 0 1 5 5")
    engine = Engine(replace(workload, user=np.array([1, 2, 2]), limits=limits), "easy++")
    while engine.now < 10:
        engine.step()
    assert engine.present.notes["last"] == {1: 10}
    assert engine.present.notes["before"] == {}
    assert [job.id for job in engine.moment.completed] == ["1"]
