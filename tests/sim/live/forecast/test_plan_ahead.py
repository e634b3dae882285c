"""Plans of the starts of waiting jobs, made in one pass, against the plan of nodes that policies use."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from sim.live.forecast.plan_ahead import Demands, PlanAhead, Waiting
from sim.machine.node_plan import NodePlan
from sim.workload.model import Job
from sim.workload.reserved_nodes import Admission, NodeReservation
from sim.workload.shape import ComputeNode, NodeGroup, Request, Seats, Shape

ONE = Request((1, 0), nodes=1)


def machine(*requests: Request, cores: int = 2, nodes: int = 1, **more: Any) -> Shape:
    return Shape(tuple(ComputeNode(f"n{n}", cores, 100) for n in range(nodes)), requests=requests, **more)


def random_request(random: Random) -> Request:
    if random.random() < 0.5:
        each, nodes = (random.randint(0, 4), random.choice([0, 0, 30, 90])), random.randint(1, 3)
        return Request(each, nodes=nodes, is_exclusive=random.random() < 0.1, groups=random.choice([(), (0,), (0, 1)]))
    tasks = random.randint(1, 9)
    most = random.choice([None, None, 3])
    return Request((1, random.choice([0, 20])), tasks=tasks, most=most, groups=random.choice([(), (0, 1)]))


@pytest.mark.parametrize("seed", range(60))
def test_starts_are_those_of_the_plan_that_policies_make(seed: int) -> None:
    random = Random(seed)
    groups = (NodeGroup("a", frozenset({0, 1})), NodeGroup("b", frozenset({1, 2, 3, 4})))
    shape = machine(*(random_request(random) for _ in range(40)), cores=4, nodes=5, groups=groups)
    lengths, free = [random.randint(1, 60) for _ in range(40)], shape.has.copy()
    running = list[tuple[int, Seats, float]]()
    for number in range(10):
        if (seats := shape.seat(shape.requests[number], free)) is not None:
            free[list(seats.nodes)] -= seats.amounts
            running.append((number, seats, lengths[number]))
    waiting = [number for number in range(10, 40) if shape.fits(shape.requests[number], shape.has)]
    plan = NodePlan(0.0, shape.has.copy(), shape, shape.requests)
    jobs = [Job(number, str(number), 0, 1, lengths[number]) for number in range(40)]
    for number, seats, length in running:
        plan.hold(jobs[number], 0, length, seats)
    expected = {number: plan.put(jobs[number], 0.0) for number in waiting}
    made = PlanAhead(shape, Demands(), running).starts(Waiting(number, lengths[number]) for number in waiting)
    assert made == expected
    assert len(made) > 15


def test_a_job_at_a_limit_takes_its_turn_when_the_limit_has_room() -> None:
    shape = machine(*[ONE] * 5, cores=2)
    limits = Demands((1,), {0: ((0, 1),), 1: ((0, 1),), 2: ((0, 1),)})
    running = [(0, Seats((0,), ((1, 0),)), 50.0)]
    made = PlanAhead(shape, limits, running).starts([Waiting(1, 10), Waiting(2, 10), Waiting(3, 45), Waiting(4, 100)])
    assert made == {3: 0, 1: 50, 2: 60, 4: 45}, "J3 passes both, J4 finds a core before the first of them may start"


def test_a_job_that_may_not_start_yet_delays_only_later_starts() -> None:
    shape = machine(*[ONE] * 3, cores=1)
    plan = PlanAhead(shape, Demands(), [])
    assert plan.starts([Waiting(0, 10, after=15), Waiting(1, 15), Waiting(2, 10)]) == {1: 0, 0: 15, 2: 25}


def test_a_job_that_never_fits_has_no_start() -> None:
    shape = machine(ONE, Request((3, 0), nodes=1), cores=2)
    never = Demands((0,), {0: ((0, 1),)})
    assert PlanAhead(shape, Demands(), []).starts([Waiting(1, 5), Waiting(0, 5)]) == {0: 0}
    assert PlanAhead(shape, never, []).starts([Waiting(0, 5)]) == {}


def test_ends_are_rounded_up() -> None:
    shape = machine(ONE, ONE, ONE, cores=1)
    running = [(0, Seats((0,), ((1, 0),)), 61.0)]
    assert PlanAhead(shape, Demands(), running, 60.0).starts([Waiting(1, 30), Waiting(2, 5)]) == {1: 120, 2: 180}


def test_ends_are_rounded_on_the_clock() -> None:
    """At 7 s past a multiple of ten the next multiples are 3 and 13 s away."""
    running = [(0, Seats((0,), ((1, 0),)), 3.0), (1, Seats((0,), ((1, 0),)), 3.5)]
    plan = PlanAhead(machine(ONE, ONE, ONE, ONE), Demands(), running, grain=10.0, clock=1007.0)
    assert plan.starts([Waiting(2, 20), Waiting(3, 20)]) == {2: 3, 3: 13}


def test_a_coarse_plan_has_few_steps_and_starts_little_later() -> None:
    random, many = Random(4), 300
    shape = machine(*[ONE] * (2 * many), cores=1, nodes=many)
    running = [(n, Seats((n,), ((1, 0),)), random.uniform(60, 10 * 86400)) for n in range(many)]
    waiting = [Waiting(many + n, random.uniform(60, 86400)) for n in range(many)]
    plans = [PlanAhead(shape, Demands(), running, is_coarse=is_coarse) for is_coarse in (False, True)]
    exact, coarse = (plan.starts(waiting) for plan in plans)
    assert coarse.keys() == exact.keys()
    assert len(plans[1]._times) < 450 < len(plans[0]._times)
    assert all(start <= coarse[number] <= 1.1 * start + 60 for number, start in exact.items())


def test_nodes_that_are_reserved_are_left_out_in_time() -> None:
    kept = NodeReservation("class", 20.0, 50.0, frozenset({0}))
    shape = machine(ONE, ONE, Request((1, 0), nodes=1, admitted=Admission()), cores=1, reservations=(kept,))
    assert PlanAhead(shape, Demands(), []).starts([Waiting(0, 20), Waiting(1, 20), Waiting(2, 1)]) == {
        0: 0,
        1: 50,
        2: 70,
    }
