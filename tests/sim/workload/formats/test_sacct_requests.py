from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import run
from sim.workload.formats import sacct
from sim.workload.formats.nodes import read_machine
from sim.workload.formats.sacct_requests import AskedOfNodes, NodeStay, cores_by_node
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.shape import Seats, Shape

MACHINE = """
[[node]]
name = "n[1-3]"
cores = 4
mem = 16000
[[node]]
name = "n4"
cores = 4
mem = 16000
gpus = 2
[[partition]]
name = "whole"
nodes = "n[1-3]"
exclusive = true
[[partition]]
name = "batch"
nodes = "n[1-4]"
max_time = 3600
"""
HEADER = "JobID|Partition|Submit|Start|End|Elapsed|State|NNodes|NCPUS|Timelimit|ReqNodes|ReqTRES|AllocTRES|NodeList\n"


@pytest.fixture(scope="module")
def machine() -> Shape:
    return read_machine(MACHINE, "x.nodes")


def asked(machine: Shape, **row: str) -> tuple[object, ...]:
    """Return the request that a row of the dump becomes: (amounts for each core, amounts for each node, smallest number
    of nodes)."""
    dump = AskedOfNodes(machine)
    cores = int(row.pop("cores", "4"))
    dump.add({"partition": "batch", **row}, cores, 0.0 if "alloctres" in row else None, 60.0)
    (request,) = dump.shape.requests
    return request.each, request.per_node, request.least


def test_requests_are_of_what_nodes_have(machine: Shape) -> None:
    assert machine.kinds == ("cores", "memory", "gpu")
    assert asked(machine, reqtres="cpu=4,mem=4000M,node=1") == ((1, 1000, 0), (), 1)
    assert asked(machine, alloctres="cpu=4,gres/gpu=2,mem=8G,node=2") == ((1, 2048, 0), (0, 0, 1), 1)
    assert asked(machine, reqtres="cpu=4,gres/gpu=4,mem=4000M,node=3", reqnodes="3") == ((1, 1000, 1), (), 3)
    assert asked(machine, reqtres="", reqmem="2000Mc") == ((1, 2000, 0), (), 1)
    row = {"partition": "whole", "alloctres": "cpu=12,mem=48000M,node=3"}
    assert asked(machine, cores="12", **row) == ((1, 0, 0), (0, 16000, 0), 1)
    machine = read_machine("[[node]]\ncores = 4\n", "x.nodes")
    assert asked(machine, reqtres="cpu=4,mem=4000M,gres/gpu=1,node=1") == ((1, 0), (), 1)


def test_jobs_start_where_they_ran(machine: Shape) -> None:
    day, rows = "2026-11-23T10:0", []
    for job, minute, node in ((1, 0, "n3"), (2, 1, "n4"), (3, 2, "n3")):
        rows.append(
            f"{job}|batch|{day}{minute}:00|{day}{minute}:00|{day}9:00|00:0{9 - minute}:00|COMPLETED|1|2|01:00:00|1|"
            f"cpu=2,mem=2000M,node=1|cpu=2,mem=2000M,node=1|{node}\n"
        )
    trace = sacct.read(HEADER + "".join(rows), "day", "day.sacct", sacct.Reading(shape=machine))
    schedule = run(Workload.of(trace), "recorded")
    assert schedule.nodes == ((2,), (3,), (2,))
    assert run(Workload.of(trace), "fcfs").nodes[0] != (2,)
    assert not trace.fidelity.unmodelled()


def test_a_place_without_room_is_given_up(machine: Shape) -> None:
    row = (
        "{}|batch|2026-11-23T10:00:00|2026-11-23T10:00:00|2026-11-23T10:09:00|00:09:00|COMPLETED|1|3|01:00:00|1|||n1\n"
    )
    trace = sacct.read(HEADER + row.format(1) + row.format(2), "x", "x.sacct", sacct.Reading(shape=machine))
    schedule = run(Workload.of(trace), "recorded")
    assert schedule.start.tolist() == [0, 0]
    assert schedule.nodes[0] == (0,) != schedule.nodes[1]


@pytest.mark.parametrize(("version", "most_wrong"), [("v22.05", 0), ("v24.11", 4)])
def test_a_recorded_day_is_played_back_on_its_nodes(shared: Path, version: str, most_wrong: int) -> None:
    captures = shared / "slurm" / "captures" / version
    snap = captures / "snap1"
    text = (snap / "scontrol-node.txt").read_text() + (snap / "scontrol-partition.txt").read_text()
    workload = Workload.of(read(captures / "final.sacct", sacct.Reading(shape=read_machine(text, "x"))))
    workload = workload.with_overruns()
    assert workload.shape is not None
    schedule = run(workload, "recorded")
    pairs = [(seats.nodes, on) for seats, on in zip(workload.shape.ran, schedule.nodes, strict=True) if seats]
    assert len(pairs) > 60
    assert sum(real != on for real, on in pairs) <= most_wrong
    late = np.abs(schedule.start - workload.recorded_start)[[seats is not None for seats in workload.shape.ran]]
    assert np.median(late) == 0


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_node_gives_too_many_cores_where_that_is_possible(data: st.DataObject) -> None:
    """A log is made by placing jobs on nodes with free cores. The places found for them may differ, but each job keeps
    its cores per node."""
    sizes = (4, 4, 8)
    stays: list[NodeStay] = []
    used: list[tuple[float, float, Seats]] = []
    for _ in range(data.draw(st.integers(1, 8))):
        start = float(data.draw(st.integers(0, 9)))
        end = start + data.draw(st.integers(1, 5))
        taken = [sum(s.amounts[0][n] for a, b, s in used if a < end and start < b) for n in range(3)]
        free = [size - most for size, most in zip(sizes, taken, strict=True)]
        counts = [data.draw(st.integers(0, max(most, 0))) for most in free]
        nodes = tuple(n for n, count in enumerate(counts) if count)
        if nodes:
            used.append((start, end, Seats((0,), (tuple(counts),))))
            stays.append(NodeStay(start, end, sum(counts), nodes))
    found = cores_by_node(stays, sizes)
    assert [sum(counts) for counts in found] == [stay.cores for stay in stays]
    alone = [stay for stay in stays if len(stay.nodes) == 1]
    assert all(counts == (stay.cores,) for stay, counts in zip(stays, found, strict=True) if stay in alone)
    if len(stays) - len(alone) <= 1:  # else an early job may take what a later one needs
        for at in {stay.start for stay in stays}:
            for node in range(3):
                held = sum(
                    dict(zip(stay.nodes, counts, strict=True)).get(node, 0)
                    for stay, counts in zip(stays, found, strict=True)
                    if stay.start <= at < stay.end
                )
                assert held <= sizes[node]
