"""Also tests sim.machine.node_plan, sim.machine.plan, sim.workload.shape."""

from random import Random

import numpy as np
import pytest

from sim.machine.node_plan import NodePlan
from sim.machine.nodes import Leftover, NodeMachine
from sim.machine.plan import by_number
from sim.machine.trials import Trials
from sim.support.errors import DecisionError, ParameterError
from sim.workload.model import Job
from sim.workload.shape import ComputeNode, NodeGroup, NodePlacement, Request, Seats, Shape

FOUR = tuple(ComputeNode(f"n{at}", 4, 16, (("gpu", 2),) if at == 3 else ()) for at in range(4))


def job(rank: int, estimate: float = 10, procs: int = 1) -> Job:
    return Job(rank, str(rank), 0, procs, estimate)


def machine(*requests: Request, shape: Shape | None = None) -> NodeMachine:
    return NodeMachine(shape or Shape(FOUR), requests)


def test_job_with_free_cores_does_not_fit_without_memory() -> None:
    nodes = machine(Request((1, 16, 0), nodes=4), Request((1, 1, 0), nodes=1))
    nodes.take(0, 4)
    assert nodes.free == 12
    assert not nodes.fits(job(1))
    assert nodes.lack(job(1)) == (12, 12, 4, 0, 1, "nodes", 0, "with 1 MB")
    nodes.give_back(0)
    assert nodes.fits(job(1))
    assert (nodes.left == nodes.shape.has).all()


def test_resource_that_too_few_nodes_have_is_named() -> None:
    nodes = machine(
        Request((4, 0, 0), nodes=3), Request((1, 0, 2), nodes=2), Request((1, 1, 0), nodes=2, is_exclusive=True)
    )
    nodes.take(0, 12)
    assert nodes.lack(job(1))[-2:] == (1, "with 2 GPUs")
    assert nodes.lack(job(2))[-2:] == (1, "wholly free")


def test_tasks_and_shares_have_their_nodes() -> None:
    nodes = machine(Request((2, 0, 0), nodes=2), Request((1, 0, 1), nodes=1))
    assert nodes.take(0, 4) == 0b0011_0011
    assert nodes.take(1, 1) == 1 << 12
    assert nodes.shape.nodes_of(nodes.held[0]) == (0, 1)
    assert nodes.faults() == ""
    shape = Shape(FOUR)
    assert shape.seat(Request((2, 0, 0), tasks=3, most=1), shape.has) is None
    spread = shape.seat(Request((1, 0, 0), tasks=4, least=3), shape.has)
    assert spread == Seats((0, 1, 2), ((2, 0, 0), (1, 0, 0), (1, 0, 0)))
    asked = (Request((3, 0, 0), nodes=1), Request((1, 0, 0), tasks=3, most=1))
    nodes = machine(*asked)  # best fit: the node with one core left is tried first, and only one node may be used
    nodes.take(0, 3)
    assert not nodes.fits(job(1))
    assert nodes.lack(job(1)) == (13, 13, 4, 1, 3, "tasks on the first node by placement best", 0, "")
    nodes = machine(Request((1, 0, 0), nodes=1, is_exclusive=True), Request((1, 0, 0), nodes=4))
    nodes.take(0, 1)
    assert nodes.held[0].bit_count() == 4
    assert not nodes.fits(job(1))


@pytest.mark.parametrize(
    ("placement", "node"), [("lowest", 1), ("best", 2), ("spread", 1)], ids=["lowest", "best", "spread"]
)
def test_placement_chooses_among_nodes_with_room(placement: NodePlacement, node: int) -> None:
    nodes = machine(Request((1, 0, 0), nodes=1), shape=Shape(FOUR, placement=placement))
    free = np.array([[0, 16, 0], [4, 16, 0], [1, 16, 0], [2, 16, 2]])
    seats = nodes.seat(0, free)
    assert seats is not None
    assert seats.nodes == (node,)


def test_partitions_and_requests_have_limits() -> None:
    groups = (NodeGroup("short", frozenset({0}), most_time=5), NodeGroup("gpu", frozenset({3}), most_nodes=1))
    shape = Shape(FOUR, groups)
    assert shape.seat(Request((1, 0, 0), nodes=1, groups=(1, 0)), shape.has) == Seats((3,), ((1, 0, 0),))
    assert shape.why_never(Request((1, 0, 0), nodes=1, groups=(0,)), 6) == "longer than its partition allows"
    assert shape.within_limits(Request((1, 0, 0), nodes=1, groups=(0, 1)), 6).groups == (1,)
    asked = (Request((9, 0, 0), nodes=1), Request((1, 0, 1), nodes=2), Request((1, 0, 0), nodes=1))
    found = Shape(FOUR, requests=asked).misfits(np.array([1.0, 1.0, 1.0]))
    assert {why: where.tolist() for why, where in found.items()} == {
        "never fits the machine: no node has enough cores": [True, False, False],
        "never fits the machine: too few nodes have enough together": [False, True, False],
    }
    every = frozenset(range(4))
    groups = (NodeGroup("low", every, priority=1, factor=50), NodeGroup("high", every, priority=9, factor=200))
    some = tuple(Request((1, 0, 0), nodes=1, groups=names) for names in ((0,), (1, 0), ()))
    shape = Shape(FOUR, groups, some)
    assert (shape.tiers, shape.factors) == ((1, 9, 0), (0.25, 1, 0))
    assert NodeMachine(shape, some).tiers == (1, 9, 0)
    assert (Shape(FOUR, groups[:1], some[:1]).tiers, Shape(FOUR, groups[:1], some[:1]).factors) == ((), ())
    with pytest.raises(ParameterError, match="no placement together on nodes"):
        Shape(FOUR).placed("together")


def test_plan_counts_the_worst_moment_of_each_node() -> None:
    asked = (Request((4, 0, 0), nodes=2), Request((4, 0, 0), nodes=3))
    plan = NodePlan(0, Shape(FOUR).has.copy(), Shape(FOUR), asked)
    plan.hold(job(0), 5, 15)
    assert plan.find(job(1, estimate=5), 0) == 0
    assert plan.find(job(1, estimate=6), 0) == 15
    twin = plan.copy()
    plan.let_go(job(0), 5, 15)
    assert plan.find(job(1, estimate=6), 0) == 0
    assert plan != twin


def test_earlier_answers_of_a_plan_do_not_change_later_ones() -> None:
    random, shape = Random(7), Shape(FOUR)
    asked = tuple(Request((cores, 4, 0), tasks=tasks) for cores in (1, 2, 4) for tasks in (1, 3))
    plan, held = NodePlan(0, shape.has.copy(), shape, asked * 40), dict[int, tuple[float, float]]()
    for rank in range(200):
        new, after = job(rank, estimate=random.choice((5, 10, 20))), random.choice((0, 0, 0, 7))
        fresh = plan.copy()
        start = plan.find(new, after)
        assert start == fresh.find(new, after)
        plan.hold(new, start, start + new.estimate)
        held[rank] = start, start + new.estimate
        if rank % 15 == 14:
            gone = random.choice(list(held))
            plan.let_go(job(gone), *held.pop(gone))


def test_reservations_move_as_if_each_was_placed_again() -> None:
    random, shape, now = Random(5), Shape(FOUR), 0.0
    asked = tuple(Request((cores, 2, 0), tasks=tasks) for cores in (1, 2, 4) for tasks in (1, 2, 3, 4))
    plan, held = NodePlan(0, shape.has.copy(), shape, asked * 30), dict[int, float]()
    jobs = {rank: job(rank, estimate=random.choice((5, 10, 20, 40))) for rank in range(300)}
    moves = 0
    for new in jobs.values():
        held[new.rank] = plan.put(new, now)
        if new.rank % 3:
            continue
        now += random.choice((1, 2, 5))
        plan.advance(now)
        held = {rank: at for rank, at in held.items() if at + jobs[rank].estimate > now}
        if running := [rank for rank, at in held.items() if at <= now]:
            gone = random.choice(running)
            plan.let_go(jobs[gone], now, held.pop(gone) + jobs[gone].estimate)
        waiting = [jobs[rank] for rank in sorted(held, key=lambda rank: (held[rank], rank)) if held[rank] > now]
        for each in waiting:
            twin = plan.copy()
            twin.let_go(each, held[each.rank], held[each.rank] + each.estimate)
            at = twin.find(each, now)
            assert plan.sooner(each, held[each.rank], now, Trials()) == min(at, held[each.rank])
            if at < held[each.rank]:
                plan.let_go(each, held[each.rank], held[each.rank] + each.estimate)
                plan.hold(each, at, at + each.estimate)
                held[each.rank], moves = at, moves + 1
    assert moves > 20


def test_plan_has_steps_only_where_something_begins_or_ends() -> None:
    requests = [Request((2, 0, 0), nodes=2), Request((1, 0, 0), nodes=1)]
    plan = NodePlan(0, Shape(FOUR).has.copy(), Shape(FOUR), requests)
    plan.hold(job(0), 20, 30)
    plan.hold(job(1), 20, 40)
    assert [time for time, _ in plan.steps()] == [0, 20, 30, 40]
    twin = plan.copy()
    plan.let_go(job(1), 20, 40)
    assert list(plan.steps()) == [(0, 16), (20, 12), (30, 16)]
    plan.let_go(job(0), 20, 30)
    assert list(plan.steps()) == [(0, 16)]
    assert [time for time, _ in twin.steps()] == [0, 20, 30, 40]


def test_plan_of_nodes_is_not_asked_by_number() -> None:
    plan = NodePlan(0, Shape(FOUR).has.copy(), Shape(FOUR), ())
    with pytest.raises(DecisionError, match="is asked by job"):
        plan.earliest(1, 1, 0)
    with pytest.raises(DecisionError, match="counts processors"):
        by_number(plan)


def test_leftover_admits_jobs_beside_which_the_head_fits() -> None:
    asked = (Request((4, 0, 0), nodes=3), Request((1, 0, 0), nodes=1), Request((1, 0, 0), nodes=2))
    nodes = machine(*asked)
    left = Leftover(nodes, job(0), nodes.left.copy())
    assert left.admits(job(1))
    assert not left.admits(job(2))


def test_promised_nodes_are_kept_for_their_job() -> None:
    nodes = machine(Request((1, 0, 0), nodes=1))
    nodes.promise(0, 5, Seats((2,), ((1, 0, 0),)))
    assert nodes.due(0, 4) is None
    due = nodes.due(0, 5)
    assert due is not None
    assert nodes.take_exactly(0, due, 1) == 1 << 8
    assert not nodes.promised
    with pytest.raises(DecisionError, match="no room"):
        nodes.take_exactly(1, Seats((2,), ((4, 0, 0),)), 4)


def test_counting_room_agrees_with_choosing_nodes() -> None:
    lot = np.random.default_rng(39)
    found = []
    for _ in range(400):
        free = np.minimum(Shape(FOUR).has, lot.integers(0, 17, (4, 3)))
        groups = (NodeGroup("a", frozenset({0, 1})), NodeGroup("b", frozenset({1, 3}), is_exclusive=True))
        shape = Shape(FOUR, groups, placement=str(lot.choice(["lowest", "best", "spread"])))  # type: ignore[arg-type]
        each = (int(lot.integers(1, 4)), int(lot.integers(0, 6)), int(lot.integers(0, 2)))
        count, named = int(lot.integers(1, 6)), ((), (0,), (1,), (1, 0))[lot.integers(4)]
        least, most = int(lot.integers(1, 3)), int(lot.integers(1, 9))
        by_tasks = Request(each, tasks=count, least=min(least, count), most=max(most, least), groups=named)
        request = by_tasks if lot.random() < 0.6 else Request(each, nodes=count, groups=named)
        found.append(shape.fits(request, free))
        assert found[-1] == (shape.seat(request, free) is not None), (request, free)
    assert 40 < sum(found) < 360


def test_what_a_partition_lacks_for_ever_is_named() -> None:
    groups = (NodeGroup("left", frozenset({0, 1})), NodeGroup("right", frozenset({2, 3}), most_nodes=1))
    shape = Shape(FOUR, groups)
    told = {
        Request((1, 0, 1), nodes=1, groups=(0,)): "no node of its partition has enough GPUs",
        Request((1, 0, 3), nodes=1, groups=(0,)): "no node has enough GPUs",
        Request((1, 0, 0), nodes=2, groups=(1,)): "more nodes than its partition allows",
        Request((1, 0, 0), nodes=3, groups=(0,)): "too few nodes have enough together",
    }
    for request, why in told.items():
        assert shape.why_never(request, 10) == f"never fits the machine: {why}"
