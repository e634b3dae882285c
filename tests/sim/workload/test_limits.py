"""Also tests sim.workload.limit_rules."""

import json
from pathlib import Path

import numpy as np
import pytest

from sim.decisions.reasons_on_nodes import AtLimit
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.support.errors import PolicyError, TraceError
from sim.timeline.timeline import Timeline
from sim.workload.formats.nodes import read_machine
from sim.workload.limit_rules import LimitRule
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.source import Source

JOBS = [
    {"id": "1", "submit": 0, "run": 10, "cores": 3, "user": "a", "account": "x"},
    {"id": "2", "submit": 1, "run": 10, "cores": 2, "user": "a", "account": "x"},
    {"id": "3", "submit": 2, "run": 10, "cores": 2, "user": "b", "account": "x"},
    {"id": "4", "submit": 3, "run": 10, "cores": 9, "user": "c", "account": "y"},
]


def limited(tmp_path: Path, *limits: dict[str, object], **more: object) -> Workload:
    path = tmp_path / "limited.json"
    jobs = [job | {"tasks": 1, "estimate": 10} | more for job in JOBS]
    case = {"nodes": [{"cores": 16}], "jobs": jobs, "limits": [*limits]}
    path.write_text(json.dumps(case), encoding="utf-8")
    return Workload.of(read(path)).with_overruns()


@pytest.mark.parametrize("policy", ["fcfs", "firstfit", "easy", "replan", "shadow", "slurm"])
def test_a_job_at_its_limit_is_passed_over(tmp_path: Path, policy: str) -> None:
    workload = limited(tmp_path, {"user": "*", "cores": 4})
    assert [note.what for note in workload.fidelity.skipped] == ["exceeds a limit alone (AssocGrpCpuLimit)"]
    engine = Engine(workload, policy, watchers=[Checker])
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 2]


def test_limits_of_an_account_count_all_its_users(tmp_path: Path) -> None:
    engine = Engine(limited(tmp_path, {"account": "x", "jobs": 1}), "fcfs", watchers=[Checker])
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 20, 3]


def test_tasks_of_an_array_take_turns(tmp_path: Path) -> None:
    engine = Engine(limited(tmp_path, array="7", at_once=2), "easy", watchers=[Checker])
    engine.run()
    assert engine.schedule().start.tolist() == [0, 1, 10, 11]


def test_the_reason_is_the_one_of_slurm_and_names_the_amounts(tmp_path: Path) -> None:
    timeline = Timeline(limited(tmp_path, {"user": "a", "account": "*", "qos": "*", "cores": 4}, qos="night"), "easy")
    timeline.seek(2)
    waits = timeline.snapshot().queue[0]
    assert waits.why == AtLimit("QOSMaxCpuPerUserLimit", "user a of account x of qos night", 3, 4, 2, "cores")
    said = timeline.explain("2").sentences
    assert any("3 of 4 cores in use, it wants 2" in line for line in said), said


def test_a_policy_that_promises_refuses_limits(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot keep limits of users"):
        Engine(limited(tmp_path, {"user": "*", "cores": 4}), "conservative")


def test_limits_of_a_machine_hold_for_any_trace_on_it(tmp_path: Path) -> None:
    machine, log = tmp_path / "m.toml", tmp_path / "log.csv"
    machine.write_text('[[node]]\ncores = 8\n[[limit]]\nuser = "a"\ncores = 4\njobs = 9\n', encoding="utf-8")
    log.write_text("id,submit,procs,runtime,user\n1,0,4,9,a\n2,1,4,9,a\n3,2,4,9,b\n", encoding="utf-8")
    assert read_machine(machine.read_text(), machine).limits == (
        LimitRule("cores", 4, (("user", "a"),)),
        LimitRule("jobs", 9, (("user", "a"),)),
    )
    _, workload = Source(str(log), nodes=str(machine)).read()
    engine = Engine(workload, "easy", watchers=[Checker])
    engine.run()
    assert engine.schedule().start.tolist() == [0, 9, 2]


def test_a_limit_without_a_number_is_refused() -> None:
    with pytest.raises(TraceError, match="limit 1: 'cores' must be a whole number"):
        read_machine('[[node]]\ncores = 8\n[[limit]]\nuser = "a"\ncores = "many"\n', "m.toml")


def test_more_limits_than_can_be_compared_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.workload.limits.MOST_DEMANDS", 7)
    assert limited(tmp_path, {"cores": 9}).limits is not None
    with pytest.raises(TraceError, match="its jobs meet limits more than 7 times"):
        limited(tmp_path, {"cores": 9}, {"jobs": 3})
    monkeypatch.setattr("sim.workload.limits.MOST_CHECKS", 7)
    with pytest.raises(TraceError, match="has 2 limits for 4 jobs, too many to compare"):
        limited(tmp_path, {"cores": 9}, {"jobs": 3})


@pytest.mark.parametrize("policy", ["fcfs", "conservative", "slurm"])
def test_a_job_beyond_the_limit_of_submitted_jobs_is_not_accepted(tmp_path: Path, policy: str) -> None:
    workload = limited(tmp_path, {"account": "x", "submit": 2})
    engine = Engine(workload, policy, watchers=[Checker])
    engine.run()
    assert np.isnan(engine.schedule().start).tolist() == [False, False, True, False]
    said = [d.say(str) for step in range(engine.step_count) for d in engine.history.decisions(step)]
    assert "J3 is cancelled: AssocGrpSubmitJobsLimit: account x has 2 of 2 jobs submitted" in said


def test_a_job_that_has_ended_makes_room_for_another(tmp_path: Path) -> None:
    engine = Engine(limited(tmp_path, {"user": "*", "submit": 1}, submit=0), "fcfs", watchers=[Checker])
    engine.run()
    assert np.isnan(engine.schedule().start).tolist() == [False, True, False, False]
    jobs = [job | {"tasks": 1, "estimate": 10, "submit": 20 * at} for at, job in enumerate(JOBS)]
    case = {"nodes": [{"cores": 16}], "jobs": jobs, "limits": [{"submit": 1}]}
    (path := tmp_path / "later.json").write_text(json.dumps(case), encoding="utf-8")
    engine = Engine(Workload.of(read(path)).with_overruns(), "fcfs", watchers=[Checker])
    engine.run()
    assert engine.schedule().start.tolist() == [0, 20, 40, 60]
