"""The loop over columns gives the same results as the engine on machines of nodes.

Also tests sim.kernel.nodes, sim.kernel.node_states, sim.kernel.node_sets, sim.kernel.node_cores,
sim.engine.express.seating.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from sim.engine.engine import Engine
from sim.engine.express import seating
from sim.machine.nodes import NodeMachine
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.shape import Seats
from tests.oracle.node_cases import case_of
from tests.sim.kernel.test_loop import IS_BUILT, all_of, by, outcome

SPECS = ("fcfs", "firstfit", "easy", "easy:tail=sjf,order=sjf", "relaxed")
MOVES = (
    lambda engine: engine.advance(5),
    lambda engine: engine.step(),
    lambda engine: engine.run(until=40),
    Engine.run,
)
pytestmark = pytest.mark.skipif(not IS_BUILT, reason="the kernel is not compiled")


def varied(seed: int) -> dict[str, Any]:
    """Return a random machine with jobs; some have features, partitions, and submit times close together."""
    case, lot = case_of(seed), random.Random(seed)
    nodes, is_crowded = range(len(case["nodes"])), lot.random() < 0.3
    if lot.random() < 0.5:
        case["partitions"] = [
            {"name": "even", "nodes": [*nodes[::2]], "exclusive": lot.random() < 0.2},
            {"name": "all", "nodes": [*nodes]},
        ]
        for node in case["nodes"]:
            node["features"] = lot.choice([[], ["a"], ["a", "b"]])
    for job in case["jobs"]:
        if is_crowded:
            job["submit"] = job["submit"] / 10 + lot.random() * 1e-6
        if "partitions" in case:
            job["features"] = lot.choice([[], [], ["a"], ["b"]])
            job["partitions"] = lot.choice([[], ["even"], ["all"], ["even", "all"]])
        if "tasks" in job:
            job["least_nodes"], job["mem_node"] = min(job["tasks"], lot.choice([1, 1, 3])), lot.choice([0, 0, 5])
    return case


def workload_of(case: dict[str, Any], folder: Path) -> Workload:
    path = folder / "case.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    return Workload.of(read(path)).with_overruns()


def machine_of(engine: Engine) -> list[Any]:
    """Return what the machine of nodes knows."""
    machine = engine.state.machine
    assert isinstance(machine, NodeMachine)
    return [machine.left.tolist(), machine.seats, machine.faults(), machine.promised]


def test_random_nodes_give_the_engines_results(tmp_path: Path) -> None:
    for seed in range(500 if settings().max_examples > 1000 else 40):
        workload = workload_of(varied(seed), tmp_path)
        for spec in SPECS:
            alone, both = by("off", workload, spec), by("compiled", workload, spec)
            for move in MOVES:
                assert outcome(move, alone) == outcome(move, both), (seed, spec)
                expected, found = all_of(alone), all_of(both)
                assert {name for name in expected if expected[name] != found[name]} == set(), (seed, spec)
                assert machine_of(alone) == machine_of(both), (seed, spec)


def test_a_longer_run_on_nodes_is_the_same(tmp_path: Path) -> None:
    lot = random.Random(3)
    jobs = [
        {
            "id": str(at),
            "submit": 9 * at,
            "run": 1 + at % 700,
            "estimate": 700 + at % 3,
            "tasks": lot.choice([1, 8, 90]),
        }
        | {"cores": 1, "mem": lot.choice([0, 3, 9])}
        for at in range(300)
    ]
    case = {"nodes": [{"count": 50, "cores": 8, "mem": 64}, {"cores": 70, "mem": 64}], "jobs": jobs}
    for placement in ("lowest", "best", "spread"):
        workload = workload_of(case | {"placement": placement}, tmp_path)
        for spec in SPECS:
            alone, both = by("off", workload, spec), by("compiled", workload, spec)
            for engine in (alone, both):
                engine.run()
            expected, found = all_of(alone), all_of(both)
            assert {name for name in expected if expected[name] != found[name]} == set(), (placement, spec)


def test_a_new_job_may_make_one_behind_it_fit(tmp_path: Path) -> None:
    """A job on at most one node begins with the node with fewest free cores, until a new, shorter job fills that."""
    jobs = [
        {"id": "long", "submit": 0, "run": 900, "tasks": 2},
        {"id": "limited", "submit": 1, "run": 50, "tasks": 4, "most_nodes": 1},
        {"id": "new", "submit": 2, "run": 5, "tasks": 2},
    ]
    nodes = [{"count": 2, "cores": 4, "mem": 8}]
    case = {"nodes": nodes, "placement": "best", "jobs": [job | {"cores": 1, "mem": 0} for job in jobs]}
    workload = workload_of(case, tmp_path)
    for way in ("off", "compiled"):
        engine = by(way, workload, "firstfit:order=sjf")
        engine.run()
        assert engine.schedule().start.tolist() == [0, 2, 2], way


def test_the_engine_is_not_asked_on_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = workload_of(case_of(1), tmp_path)
    for spec in SPECS:
        engine = by("compiled", workload, spec)
        monkeypatch.setattr(engine, "_happen", None)
        engine.run()
        assert engine.state.tally.finished == len(workload)


@pytest.mark.parametrize("spec", ["easy:depth=2", "conservative", "replan", "easy:order=xfactor", "slurm"])
def test_policies_that_plan_on_nodes_are_left_to_the_engine(spec: str, tmp_path: Path) -> None:
    assert by("compiled", workload_of(case_of(1), tmp_path), spec).hurry() == 0


def test_requests_that_the_columns_cannot_hold_are_left_to_the_engine(tmp_path: Path) -> None:
    case = case_of(1)
    assert by("compiled", workload_of(case, tmp_path), "easy").hurry() > 0
    case["nodes"][0]["mem"] = 1 << 31
    assert by("compiled", workload_of(case, tmp_path), "easy").hurry() == 0
    case["nodes"][0]["mem"] = case["nodes"][0]["gpus"] = 1 << 29  # too many bits for one word
    assert by("compiled", workload_of(case, tmp_path), "easy").hurry() == 0
    case["nodes"][0]["gpus"] = 1 << 9
    assert by("compiled", workload_of(case, tmp_path), "easy").hurry() > 0


def test_a_node_without_a_task_of_its_job_is_left_to_the_engine(tmp_path: Path) -> None:
    """A recorded job can hold a node without a core there; in the loop's columns that would be the whole node."""
    workload = workload_of(case_of(1), tmp_path)
    engine = by("compiled", workload, "easy")
    while not isinstance(machine := engine.state.machine, NodeMachine) or not machine.seats:
        engine.step()
    assert seating.can_go_on(engine.state)
    rank, seats = next(iter(machine.seats.items()))
    machine.seats[rank] = Seats((*seats.nodes, 0), (*seats.amounts, (0,) * len(seats.amounts[0])))
    assert not seating.can_go_on(engine.state)
    assert engine.hurry() == 0


def test_equal_requests_share_a_number(tmp_path: Path) -> None:
    shape = workload_of(case_of(1), tmp_path).shape
    assert shape is not None
    requests, numbered = shape.numbered_requests
    assert tuple(requests[number] for number in numbered) == shape.requests
    assert len(requests) == len({*shape.requests}) == int(np.max(numbered)) + 1
