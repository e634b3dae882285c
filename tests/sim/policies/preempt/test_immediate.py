from sim.decisions.decisions import Suspend
from sim.decisions.reasons import MadeWay
from sim.decisions.sentences import say
from sim.engine.engine import Engine
from sim.policies import parse_policy
from tests.sim.conftest import Lab

IS = "immediate:slice=10"


def stays(engine: Engine, job: str) -> list[tuple[float, float | None]]:
    rank = engine.workload.rank_of(job)
    return [(stretch.start, stretch.end) for stretch in engine.history.stretches() if stretch.rank == rank]


def suspensions(engine: Engine) -> list[tuple[float, str]]:
    decided = engine.history.all_decisions()
    return [(engine.history.time_of(step), d.job.id) for step, d in decided if isinstance(d, Suspend)]


def test_slices_decide_who_is_suspended(lab: Lab) -> None:
    engine = lab.run(IS, 1, "1 0 1 100 100", "2 20 1 5 5")
    assert stays(engine, "2") == [(20, 25)]
    assert stays(engine, "1") == [(0, 20), (25, 105)]
    # At 20, job 3 has waited for 5 of its 20 seconds since submission, job 1 for none.
    engine = lab.run(IS, 2, "1 0 1 100 100", "2 0 1 5 5", "3 0 1 100 100", "4 20 1 5 5")
    assert suspensions(engine) == [(20, "1")]
    [why] = [d.because for _, d in engine.history.all_decisions() if isinstance(d, Suspend)]
    assert why == MadeWay(engine.moment.jobs[3], suffering=1, slice=10)


def test_a_slice_that_was_awaited_in_vain_makes_no_instant(lab: Lab) -> None:
    """Job 2 waits for the end of job 1's slice at 10, but job 1 ends early, at 6."""
    engine = lab.run(IS, 1, "1 0 1 6 100", "2 3 1 20 20")
    assert lab.instants(engine) == [0, 3, 6, 26]


def test_whose_trial_was_lost_has_run_but_has_no_work_done(lab: Lab) -> None:
    jobs = "1 0 4 50 60", "2 0 4 90 90"
    engine = lab.run("multiqueue:classes=none,speculate=10,speculate_over=50", 4, *jobs, until=20)
    engine.switch(parse_policy("immediate:slice=30"), 25)
    engine.step()
    assert suspensions(engine) == [(50, "1")]
    assert "makes room for J2, which has done no work yet" in say(engine.moment.decisions[0])


def test_equal_time_in_pieces_is_a_tie(lab: Lab) -> None:
    """Jobs 1 and 2 have each run for 30 s, but rounding makes one value 29.999999999999996; the lower rank resumes
    first."""
    lines = "1 1 3 300 300", "2 1 3 200 200", "3 1 2 200 200"
    engine = lab.run("immediate:memory=yes,slice=30,bandwidth=50", 4, *lines)
    resumed = [stretch.rank for stretch in engine.history.stretches() if stretch.start > 200]
    assert resumed[0] == 0
