from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.history import node_use
from sim.history.node_use import CoreStays, Holders, Waits, barred, nodes_on, smallest_requests, use_now, uses_at
from sim.history.processor_sets import SetTable
from sim.machine.nodes import NodeMachine
from sim.workload.models.generated import generate
from sim.workload.models.node_requests import as_json, parse_nodes
from sim.workload.replay import read
from sim.workload.shape import BARS, OPEN, ComputeNode, NodeGroup, Request, Seats, Shape

NODES = (
    ComputeNode("n1", 4, 100),
    ComputeNode("n2", 4, 100),
    ComputeNode("g1", 4, 100, (("gpu", 2),), frozenset({"fast"})),
)


def shape(*requests: Request, groups: tuple[NodeGroup, ...] = ()) -> Shape:
    return Shape(NODES, groups, requests)


def held(made: Shape, cores: int) -> tuple[list[int], list[list[int]]]:
    found = Holders(made).holdings(np.array([0]), SetTable.of([cores]))
    return found.node.tolist(), found.amounts.tolist()


def cause(request: Request, held: list[tuple[int, int]], filling: tuple[Request, ...]) -> list[str]:
    made = shape(*filling, request)
    found = barred(made, use_now(made, held, [len(filling)])).tolist()
    return [BARS[number] if number != OPEN else "" for number in found]


def test_amounts_follow_from_cores() -> None:
    made = shape(Request((2, 30, 0), tasks=3, per_node=(0, 5, 0)))
    assert held(made, 0b1111 | 0b11 << 4) == ([0, 1], [[4, 65, 0], [2, 35, 0]])
    made = shape(Request((1, 0, 0), nodes=1, is_exclusive=True))
    assert held(made, 0b1111 << 8) == ([2], [[4, 100, 2]])
    request = Request((2, 10, 0), tasks=2)
    made = replace(shape(request), ran=(Seats((0, 1), ((2, 70, 0), (2, 5, 0))),))
    assert held(made, 0b11 | 0b11 << 4) == ([0, 1], [[2, 70, 0], [2, 5, 0]])
    assert held(made, 0b1111) == ([0], [[4, 20, 0]])  # it ran somewhere else
    sets = [0b1001 << 2, 0, 1 << 11, 0b1111_1111_1111]
    assert nodes_on(shape(), SetTable.of(sets)) == tuple(map(shape().nodes_of, sets)) == ((0, 1), (), (2,), (0, 1, 2))


def test_causes_that_bar_jobs_are_named() -> None:
    filling = Request((1, 90, 0), nodes=1)
    assert cause(Request((2, 50, 0), nodes=1), [(0, 0b1)], (filling,)) == ["memory", "", ""]
    half = Request((3, 0, 0), nodes=1)
    assert cause(Request((2, 0, 1), nodes=1), [(0, 0b111)], (half,)) == ["cores", "gpus", ""]
    assert cause(Request((1, 0, 0), nodes=1, features=frozenset({"fast"})), [], ()) == ["place", "place", ""]
    whole = Request((4, 0, 0), nodes=1)
    made = shape(whole, whole)
    assert barred(made, use_now(made, [(0, 0b1111)], [1])).tolist() == [OPEN] * 3
    assert barred(made, use_now(made, [(0, 0b111)], [])).tolist() == [OPEN] * 3
    groups = NodeGroup("a", frozenset({0})), NodeGroup("b", frozenset({1}))
    made = shape(Request((1, 0, 0), nodes=1, groups=(0, 1)), groups=groups)
    assert barred(made, use_now(made, [], [0])).tolist() == [OPEN, OPEN, BARS.index("place")]


def test_least_leaves_out_requests_for_more_of_everything() -> None:
    small, large, other = (
        Request((1, 10), nodes=1),
        Request((2, 10), nodes=4),
        Request((1, 5), nodes=1, is_exclusive=True),
    )
    assert set(smallest_requests(frozenset({small, large, other}))) == {small, other}


def test_use_changes_with_every_event() -> None:
    request = Request((2, 50, 0), nodes=1)
    made = shape(request, request)
    stays = CoreStays.of([(0, 0.0, 10.0, 0b11), (1, 10.0, inf, 0b11)])
    waits = Waits(np.array([0, 1]), np.array([0.0, 5.0]), np.array([0.0, 10.0]))
    found = list(uses_at(made, [0.0, 5.0, 10.0], stays, waits))
    assert [len(use.waiting) for use in found] == [0, 1, 0]


def test_amounts_recomputed_from_cores_are_those_of_the_machine(tmp_path: Path) -> None:
    nodes = parse_nodes("3x8c,32g 1x8c,32g,2gpu")
    (path := tmp_path / "made.json").write_text(as_json(generate("lublin", 60, 32, 5, load=1.1), nodes, 5), "utf-8")
    workload = read(path)
    assert workload.shape is not None
    engine = Engine(workload, "easy", curious=False)
    taken = 0
    while engine.step():
        machine = engine.present._machine
        assert isinstance(machine, NodeMachine)
        assert (use_now(workload.shape, machine.held.items(), ()).free == machine.left).all()
        taken = max(taken, len(machine.held))
    assert taken > 1


def test_uses_at_many_times_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = shape(*[Request((1, 10, 0), nodes=1)] * 12)
    stays = CoreStays.of((rank, rank / 2, rank / 2 + 3, 1 << rank) for rank in range(12))
    times = [0.5 * number for number in range(20)]
    monkeypatch.setattr(node_use, "_CELLS", 10)
    monkeypatch.setattr(node_use, "_JOBS_AT_ONCE", 1)
    found = uses_at(made, times, stays, Waits(np.zeros(0, np.int64), np.zeros(0), np.zeros(0)))
    held = [sum(stays.start <= time) - sum(stays.end <= time) for time in times]
    assert [12 - use.free[:, 0].sum() for use in found] == held
