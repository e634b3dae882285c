"""Node requests for the jobs of any trace, read from another file."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from sim.decisions.decisions import Drop
from sim.decisions.reasons_on_nodes import NodesReserved
from sim.decisions.sentences import why
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.support.errors import PolicyError, SchedscopeError
from sim.workload.model import Workload
from sim.workload.reading import read as read_trace
from sim.workload.replay import read
from sim.workload.requests import ANYWHERE, MODELLED_AS_UP

SWF = """; MaxProcs: 100
1 0 -1 10 4 -1 -1 4 10 2048 1 1 1 1 0 -1 -1 -1
2 0 -1 10 9 -1 -1 9 10 -1 1 1 1 1 0 -1 -1 -1
3 0 -1 10 2 -1 -1 2 10 4096 1 1 1 1 0 -1 -1 -1
"""
TOML = "[[node]]\ncount = 2\ncores = 4\nmem = 8\n"


def on(tmp_path: Path, text: str, trace: str, name: str = "x.swf") -> Workload:
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    (tmp_path / name).write_text(trace, encoding="utf-8")
    return read(tmp_path / name, nodes=str(tmp_path / "m.toml"))


def test_processors_become_tasks_with_the_memory_of_the_trace(tmp_path: Path) -> None:
    workload = on(tmp_path, TOML, SWF)
    assert workload.procs == 8
    assert workload.ids == ("1", "3")  # nine cores are more than there are
    assert workload.shape is not None
    assert [request.each for request in workload.shape.requests] == [(1, 2), (1, 4)]


def test_equal_processors_and_nodes_of_cores_alone_agree(tmp_path: Path) -> None:
    (machine := tmp_path / "m.toml").write_text("[[node]]\ncount = 32\ncores = 4\n", encoding="utf-8")
    nodes = read("lublin-128", jobs=150, nodes=str(machine))
    plain = read("lublin-128", jobs=150)
    for spec in ("fcfs", "firstfit", "easy", "relaxed", "greedy", "easy++"):
        runs = [Engine(workload, spec, curious=False) for workload in (nodes, plain)]
        for run in runs:
            run.run()
        assert runs[0].schedule().start.tolist() == runs[1].schedule().start.tolist(), spec


def test_requests_of_the_trace_keep_their_resources(tmp_path: Path) -> None:
    own = {"nodes": [{"cores": 4, "gpus": 1}], "jobs": [{"submit": 0, "run": 1, "nodes": 1, "gpus": 1}]}
    found = on(tmp_path, "[[node]]\ncores = 8\ngpus = 2\nfpgas = 1\n", json.dumps(own), "x.json")
    assert found.shape is not None
    assert found.shape.requests[0].each == (1, 0, 0, 1)
    with pytest.raises(SchedscopeError, match="asks for gpu, which no node of --nodes has"):
        on(tmp_path, TOML, json.dumps(own), "x.json")


@pytest.mark.parametrize("amounts", product((0, 1), repeat=4))
def test_request_of_zero_is_none(tmp_path: Path, amounts: tuple[int, ...]) -> None:
    """The machine has `gpu` GPUs and `fpga` FPGAs; job 1 asks for none of them, job 2 for `gpus` and `fpgas`."""
    gpu, fpga, gpus, fpgas = amounts
    jobs = [{"submit": 0, "run": 1, "tasks": 1, "cores": 4, "gpus": n, "fpga": m} for n, m in ((0, 0), (gpus, fpgas))]
    own = json.dumps({"nodes": [{"cores": 4, "gpus": 1, "fpga": 1}], "jobs": jobs})
    machine = "[[node]]\ncores = 4\n" + "gpu = 1\n" * gpu + "fpga = 1\n" * fpga
    if gpus > gpu or fpgas > fpga:
        with pytest.raises(SchedscopeError, match=f"asks for {'fpga' if fpgas > fpga else 'gpu'}, which no node"):
            on(tmp_path, machine, own, "x.json")
        return
    engine = Engine(on(tmp_path, machine, own, "x.json"), "fcfs")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 1]


def test_policies_that_count_processors_refuse_nodes(tmp_path: Path) -> None:
    workload = on(tmp_path, TOML, SWF)
    for spec in ("gang", "multiqueue", "selective", "lookahead"):
        with pytest.raises(PolicyError, match="cannot run on a machine of nodes"):
            Engine(workload, spec)
    engine = Engine(workload, "easy")
    with pytest.raises(PolicyError, match="cannot run on a machine of nodes"):
        engine.switch("gang")


PARTED = TOML + '[[partition]]\nname = "1"\n'
SCONTROL = """NodeName=n1 CPUTot=4 RealMemory=8 State=IDLE+DRAIN
NodeName=n2 CPUTot=4 RealMemory=8 State=DOWN*
NodeName=n3 CPUTot=4 RealMemory=8 State=IDLE
"""


def assumed(workload: Workload) -> list[tuple[str, int, str]]:
    return [(note.what, note.count, note.first) for note in workload.fidelity.assumed]


def test_nodes_that_are_down_or_drained_stay_and_are_noted(tmp_path: Path) -> None:
    workload = on(tmp_path, SCONTROL, SWF)
    assert workload.procs == 12
    assert workload.ids == ("1", "2", "3")
    assert assumed(workload) == [(MODELLED_AS_UP, 2, "node n1")]
    assert not assumed(on(tmp_path, SCONTROL.replace("IDLE+DRAIN", "MIXED").replace("DOWN*", "ALLOCATED"), SWF))


@pytest.mark.parametrize("name", ["x.swf", "x.json", "x.csv"])
def test_jobs_without_a_partition_of_the_machine_are_noted_in_all_formats(tmp_path: Path, name: str) -> None:
    asks = {"submit": 0, "run": 1, "nodes": 1}
    own = {"nodes": [{"cores": 4}], "partitions": [{"name": "1"}], "jobs": [{**asks, "partitions": "1"}, asks]}
    rows = "id,submit,run,procs,queue\n1,0,9,1,1\n2,0,9,1,other\n"
    trace = {"x.swf": SWF, "x.json": json.dumps(own), "x.csv": rows}[name]
    several = 3 if name == "x.swf" else 1  # its queues are numbers without names
    first = "job 1" if name == "x.swf" else "job 2"
    assert (ANYWHERE, several, first) in assumed(on(tmp_path, PARTED, trace, name))
    assert all(what != ANYWHERE for what, *_ in assumed(on(tmp_path, TOML, trace, name)))


KEPT = (
    TOML
    + """[[reservation]]
name = "course"
nodes = "n1"
start = 5
end = 40
users = ["1"]
"""
)


def test_reservation_admits_its_users_and_others_end_before_it(tmp_path: Path) -> None:
    swf = "; MaxProcs: 8\n" + "".join(
        f"{job} 0 -1 10 4 -1 -1 4 10 -1 1 {user} 1 1 0 -1 -1 -1\n" for job, user in ((1, 2), (2, 2), (3, 1), (4, 2))
    )
    engine = Engine(on(tmp_path, KEPT, swf), "firstfit", watchers=[Checker])
    engine.run(until=0)
    waits = {job.job.id: job.why for job in engine.snapshot().queue}
    reserved = NodesReserved("course", 5, 40, False)
    assert waits["2"] == reserved
    told = why(reserved, engine.moment.jobs[1], "{:g}".format)
    assert "ReqNodeNotAvail: course keeps nodes that it needs from 5 to 40" in told
    engine.run()
    assert starts(engine) == {"1": 0, "2": 10, "3": 0, "4": 20}


def test_jobs_that_name_a_reservation_start_in_it_or_are_cancelled(tmp_path: Path) -> None:
    job = {"run": 10, "estimate": 20, "tasks": 4, "reservation": "r"}
    case = {
        "nodes": [{"cores": 4}, {"cores": 4}],
        "reservations": [{"name": "r", "nodes": [1], "start": 30, "end": 45}],
        "jobs": [
            {"id": "1", "submit": 0, **job}, {"id": "2", "submit": 0, **job}, {"id": "3", "submit": 1, **job},
            {"id": "4", "submit": 0, **job, "reservation": "?"},
        ],
    }  # fmt: skip
    (path := tmp_path / "case.json").write_text(json.dumps(case), encoding="utf-8")
    workload = Workload.of(read_trace(path)).with_overruns()
    assert any("reservation that the machine does not have" in note.what for note in workload.fidelity.assumed)
    for policy in ("slurm:bf_resolution=1,bf_interval=0", "easy", "fcfs"):
        engine = Engine(workload, policy, watchers=[Checker])
        engine.run(until=0)
        if policy != "fcfs":
            assert "Reservation: it must start in r, from 30 to 45" in {
                why(job.why, job.job, "{:g}".format).split(", on")[0] for job in engine.snapshot().queue if job.why
            }
        engine.run()
        told = (each for step in range(engine.step_count) for each in engine.history.decisions(step))
        dropped = [each.say("{:g}".format) for each in told if isinstance(each, Drop)]
        assert starts(engine) == {"1": 30, "2": 40, "4": 0 if policy != "fcfs" else 40}, policy
        assert dropped == ["J3 is cancelled: its reservation r is over"]


def test_dates_of_reservations_are_those_of_the_trace(tmp_path: Path) -> None:
    scontrol = (
        "NodeName=n1 CPUTot=4 State=IDLE\n"
        "ReservationName=maint StartTime=2026-11-24T08:00:00 EndTime=2026-11-24T09:00:00 Nodes=n1 Users=root\n"
    )
    day = "2026-11-24T"
    times = f"{day}07:30:00|{day}07:30:00|{day}07:50:00"
    dump = f"JobID|Submit|Start|End|NCPUS|Timelimit|User\n1|{times}|4|01:00:00|a\n"
    workload = on(tmp_path, scontrol, dump, "x.sacct")
    assert workload.shape is not None
    assert [(each.start, each.end) for each in workload.shape.reservations] == [(1800, 5400)]
    engine = Engine(workload, "easy")
    engine.run()
    assert starts(engine) == {"1": 5400}
    with pytest.raises(SchedscopeError, match="does not say when it began"):
        on(tmp_path, scontrol, SWF)


PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full">
  <cluster id="c" prefix="a" suffix="" radical="0-1" speed="1Gf" core="4" bw="1GBps" lat="50us"/>
  <host id="b" speed="1Gf"/> <!-- <host id="old" speed="1Gf"/> -->
  <host id="ruler" speed="1Gf"><prop id="role" value="master"/></host>
</zone></platform>
"""


def test_hosts_of_a_platform_are_nodes_that_batsims_jobs_take_whole(tmp_path: Path) -> None:
    jobs = [{"id": n, "subtime": 0, "res": res, "walltime": 20, "profile": "p"} for n, res in enumerate((2, 2, 4))]
    batsim = {"nb_res": 3, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}
    workload = on(tmp_path, PLATFORM, json.dumps(batsim), "x.json")
    assert workload.shape is not None
    assert [(node.name, node.cores) for node in workload.shape.nodes] == [("a0", 4), ("a1", 4), ("b", 1)]
    assert any("speeds, links and energy are not modelled" in note.what for note in workload.fidelity.assumed)
    engine = Engine(workload, "fcfs", watchers=[Checker])
    engine.run()
    assert starts(engine) == {"0": 0, "1": 10}  # the last asks for more hosts than there are
    with pytest.raises(SchedscopeError, match="is a platform without hosts"):
        on(tmp_path, "<platform></platform>", json.dumps(batsim), "x.json")
    for radical in ("0-99999999", "", "x"):
        wrong = f'<platform><cluster id="a" prefix="a" radical="{radical}" core="4"/></platform>'
        with pytest.raises(SchedscopeError, match=r"'a' whose radical .* is no list of up to 100,000 numbers"):
            on(tmp_path, wrong, json.dumps(batsim), "x.json")


def starts(engine: Engine) -> dict[str, float]:
    found = zip(engine.workload.ids, engine.schedule().start.tolist(), strict=True)
    return {job: start for job, start in found if start == start}
