import pytest

from sim.decisions.decisions import Backfill, Start
from sim.engine.blind_run import BlindRun
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.replay import read


@pytest.mark.parametrize("spec", ["easy", "conservative", "selective", "adaptive:above=firstfit,by=queue,at=2,over=0"])
def test_blind_run_decides_as_an_engine_that_knows_all(spec: str) -> None:
    workload = read("lublin-128", jobs=120)
    engine, told = Engine(workload, spec, curious=False), BlindRun(parse_policy(spec), workload.procs, 200)
    here, there, wanted = list[tuple[float, int]](), list[tuple[float, int]](), list[float | None]()
    while engine.step():
        moment, now = engine.moment, engine.now
        came = [job for job in workload.jobs if abs(job.submit - now) < 1e-6]
        ended = [(job.rank, float(workload.runtime[job.rank])) for job in moment.completed]
        decisions, after = told.happen(now, came, ended, curious=False)
        wanted.append(after)
        here += [
            (now, d.job.rank)
            for d in engine.history.decisions(engine.step_count - 1)
            if isinstance(d, Start | Backfill)
        ]
        there += [(now, d.job.rank) for d in decisions if isinstance(d, Start | Backfill)]
    assert sorted(here) == sorted(there)
    assert len({rank for _, rank in there}) == 120
    assert wanted[-1] is None


def test_blind_run_knows_no_job_that_has_not_arrived() -> None:
    workload = read("z-figure4")
    told = BlindRun(parse_policy("easy"), workload.procs, 5)
    told.happen(0, [workload.jobs[0]], [], curious=True)
    assert told.seats_of(workload.jobs[0]) == (1 << workload.jobs[0].procs) - 1
    assert told.seats_of(workload.jobs[1]) is None
    given = told._engine._given
    assert [time for time in given.submits if time < 1e9] == [0]
    assert not [time for time in given.runtimes if time < 1e9]
