import json
from pathlib import Path
from typing import Any

import pytest

from sim.support.errors import TraceError
from sim.workload.formats import batsim, table
from sim.workload.model import Field, Trace, Workload
from sim.workload.reading import read

TEN = {"type": "delay", "delay": 10}


def parse(jobs: list[Any], profiles: dict[str, Any], **more: Any) -> Trace:
    return batsim.read(json.dumps({"jobs": jobs, "profiles": profiles, **more}), "w", "w.json")


def job(profile: str = "ten", **more: Any) -> dict[str, Any]:
    return {"id": "1", "subtime": 0, "res": 2, "profile": profile, **more}


def test_jobs_are_read_or_counted() -> None:
    trace = parse([job(subtime=3.5, walltime=100)], {"ten": TEN}, nb_res=4)
    assert trace.column(Field.RUN).tolist() == [10]
    assert trace.column(Field.SUBMIT).tolist() == [3.5]
    assert trace.column(Field.ESTIMATE).tolist() == [100]
    assert trace.column(Field.PROCS_ASKED).tolist() == [2]
    assert trace.header.max_procs == 4
    assert parse([job(id=3), job(id="w0!3")], {"ten": TEN}).ids == ("3", "w0!3")
    trace = parse([job(), job(), job(res="two", id=5), 7], {"ten": TEN})
    (note,) = trace.fidelity.skipped
    assert (note.what, note.count, note.first) == ("damaged jobs", 2, "job 3")


@pytest.mark.parametrize("walltime", [-1, None, 0, "soon"])
def test_without_a_walltime_there_is_no_estimate(walltime: object) -> None:
    assert parse([job(walltime=walltime)], {"ten": TEN}).column(Field.ESTIMATE).tolist() == [-1]


def test_profiles_give_run_times() -> None:
    profiles = {
        "ten": {"type": "DelayProfile", "delay": 10},
        "twice": {"type": "SequentialCompositionProfile", "seq": ["ten", "ten"]},
        "more": {"type": "composed", "repeat": 3, "seq": ["twice", "ten"]},
    }
    assert parse([job("twice"), job("more")], profiles).column(Field.RUN).tolist() == [20, 90]
    profiles = {"ten": TEN, "sum": {"type": "parallel", "cpu": [1]}}
    trace = parse([job(), job("sum", id=2), job("sum", id=3), job("gone", id=4)], profiles)
    assert trace.ids == ("1",)
    unknown, gone = trace.fidelity.skipped
    assert unknown.what == "run time unknown: its profile is of type 'parallel'"
    assert (unknown.count, unknown.first) == (2, "job 2")
    assert gone.what == "run time unknown: the file does not describe the job's profile"
    profiles = {"ten": TEN, "loop": {"type": "composed", "seq": ["ten", "loop"]}}
    assert parse([job("loop")], profiles).ids == ()


def test_json_that_is_no_workload_is_refused() -> None:
    with pytest.raises(TraceError, match=r"w.json: expected jobs with an id .* got 'id 1, subtime 0, res two'"):
        parse([job(res="two")], {"ten": TEN})
    with pytest.raises(TraceError, match="expected a Batsim workload with a list of 'jobs'"):
        batsim.read('{"trace": 1}', "w", "w.json")
    with pytest.raises(TraceError, match=r"w.json:2: is no JSON"):
        batsim.read('{"jobs":\n[1, 2', "w", "w.json")
    with pytest.raises(TraceError):
        batsim.read('{"jobs": ' + "[" * 200_000, "w", "w.json")


def test_real_workloads_are_read(shared: Path) -> None:
    path = shared / "formats" / "batsim" / "test_compo_sequence_delay.json"
    content = json.loads(path.read_text())
    expected = [content["profiles"][j["profile"]]["expected_execution_time"] for j in content["jobs"]]
    assert read(path).column(Field.RUN).tolist() == expected
    workload = Workload.of(read(shared / "formats" / "batsim" / "example_workload_hpc_seed1_jobs250.json"))
    assert (len(workload), workload.procs) == (250, 128)


def test_lists_without_end_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batsim, "MOST", 100)
    with pytest.raises(TraceError, match=r"x.json: holds more than 100 values; cut it into smaller files"):
        batsim.read('{"jobs": [' + "[]," * 100 + "1]}", "x", "x.json")
    with pytest.raises(TraceError, match="holds more than 100 values"):  # an object takes as much memory as four
        batsim.read('{"jobs": [' + '{"a":1},' * 20 + "1]}", "x", "x.json")


def test_where_hardly_a_job_is_good_the_rest_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_DAMAGED", 10)
    with pytest.raises(TraceError, match=r"x.json: expected jobs with an id"):
        batsim.read('{"jobs": [' + "{}," * 100 + "1]}", "x", "x.json")
    good = '{"id": 1, "subtime": 0, "res": 1, "profile": "d"},'
    text = '{"jobs": [' + good + "{}," * 100 + '1], "profiles": {"d": {"type": "delay", "delay": 1}}}'
    with pytest.raises(TraceError, match="11 of 12 jobs are damaged"):
        batsim.read(text, "x", "x.json")
