"""Copying of a machine of nodes into the fast loop of `sim.kernel` and back: the requests of the jobs, and which nodes
running jobs hold.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from sim.engine.express.columns import numbers, times, words
from sim.engine.state import State
from sim.kernel.node_loop import NodeLoop
from sim.kernel.node_states import WHOLE, Requests
from sim.machine.nodes import NodeMachine
from sim.machine.processors import ranges
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.backfill.firstfit import FirstFit
from sim.policies.backfill.relaxed import Relaxed
from sim.policies.policy import Policy
from sim.workload.shape import NODE_PLACEMENTS, Amounts, Request, Seats, Shape

_MOST_AMOUNT = 1 << 30
"""Largest amount of a resource that fits into the loop"""
_MOST_LEVELS = 1 << 22
"""Limit for the product of the number of nodes and the most cores of a node; the loop supports only machines below
it
"""
_MOST_ALLOWED = 1 << 28
"""Limit for the product of the number of nodes and the number of different sets of nodes that requests allow; the loop
supports only machines below it
"""
_MOST_BOUNDS = 15
"""Largest number of bounds. A bound is an amount of a resource; a search passes over nodes that have less than it
free
"""


def is_known(policy: Policy) -> bool:
    """Return True if the loop supports the policy on a machine of nodes. The policy must plan for one job at most, and
    its order must not depend on the clock.
    """
    if policy.queue_order().by_clock:
        return False
    return type(policy) in (FirstComeFirstServed, FirstFit, Relaxed) or (type(policy) is Easy and policy.depth == 1)


def can_be_told(shape: Shape) -> bool:
    """Return True if the loop's columns can hold the machine of nodes `shape` and all requests of its jobs."""
    requests, _ = shape.numbered_requests
    most = int(shape.has.max(initial=0))
    sets = {(request.features, number) for request in requests for number in request.groups or (None,)}
    return (
        most < _MOST_AMOUNT
        and len(sets) * len(shape.nodes) < _MOST_ALLOWED
        and len(shape.nodes) * int(shape.has[:, 0].max(initial=0)) < _MOST_LEVELS
        and all(request.each[0] > 0 and max(request.amounts(1)) < _MOST_AMOUNT for request in requests)
        and all(request.tasks is None or request.tasks >= request.least for request in requests)
    )


def can_go_on(state: State) -> bool:
    """Return True if each running job has a task on each of its nodes. The loop requires this, because there 0 tasks
    stand for a whole node.
    """
    machine = state.machine
    return not isinstance(machine, NodeMachine) or all(
        amounts[0] > (per_node[0] if (per_node := machine.requests[rank].per_node) else 0)
        for rank, seats in machine.seats.items()
        for amounts in seats.amounts
    )


def loop_of(loops: ModuleType, state: State, shape: Shape, jobs: int) -> NodeLoop:
    """Return a new loop of the module `loops` for a workload of `jobs` jobs, before the first arrival. It has the nodes
    and the requests of `shape`.
    """
    assert isinstance(state.machine, NodeMachine)
    has, sign = shape.has, NODE_PLACEMENTS[state.machine.shape.placement]
    nodes, kinds = has.shape
    made: type[NodeLoop] = vars(loops)[NodeLoop.__name__]
    loop = made(jobs, state.procs, min(jobs, state.procs), nodes, kinds, sign, int(has[:, 0].max(initial=0)))
    _tell_requests(loop, shape)
    return loop


def _tell_requests(loop: NodeLoop, shape: Shape) -> None:
    asked = loop.asked
    requests, numbered = shape.numbered_requests
    kinds, empty = len(shape.kinds), (0,) * len(shape.kinds)
    each = _rows([request.each for request in requests], kinds)
    once = _rows([request.per_node or empty for request in requests], kinds)
    count = np.array([request.tasks or request.nodes or 0 for request in requests], np.int64)
    least = np.array([request.least if request.tasks else 1 for request in requests], np.int64)
    asked.requests = len(requests)
    asked.has = numbers(shape.has.ravel())
    _, likes, like = np.unique(shape.has, axis=0, return_index=True, return_inverse=True)
    asked.like = numbers(likes[like.ravel()])
    asked.of = numbers(numbered)
    asked.each, asked.once, asked.unit = (numbers(rows.ravel()) for rows in (each, once, each + once))
    asked.needed = numbers((each + once).min(axis=0, initial=_MOST_AMOUNT))
    _tell_keys(asked, shape.has, each, once)
    asked.total = times((each * count[:, None] + once * least[:, None]).ravel().astype(np.float64))
    asked.count, asked.least = numbers(count), numbers(least)
    room = np.where(each > 0, shape.has.max(axis=0) // np.maximum(each, 1), _MOST_AMOUNT).min(axis=1)
    asked.most_room = numbers(np.clip(room, 1, [request.tasks or 1 for request in requests]))
    asked.tasks = numbers(np.array([request.tasks or 0 for request in requests], np.int64))
    most = [request.most or len(shape.nodes) if request.tasks else len(shape.nodes) for request in requests]
    asked.most = numbers(np.array(most, np.int64))
    _tell_partitions(loop, shape, requests, _bounds(asked, each + once))
    loop.refused, loop.unspared, loop.fits_at, loop.short, loop.looked_at, loop.freed_before = (
        numbers(np.zeros(len(requests), np.int32)) for _ in range(6)
    )


def _tell_keys(asked: Requests, has: Amounts, each: Amounts, once: Amounts) -> None:
    """Copy the weights of keys into the loop: digits of a number with a place for the node, and for each resource."""
    weights = [len(has)]
    for most in has.max(axis=0).tolist():
        weights.append(weights[-1] * (most + 1))
    asked.is_exact = weights.pop() < 1 << 64
    weight = np.array([one % (1 << 64) for one in weights], np.uint64)
    asked.weight = words(weight)
    asked.each_key, asked.once_key, asked.has_key = (
        words((rows.astype(np.uint64) * weight).sum(axis=1, dtype=np.uint64)) for rows in (each, once, has)
    )


def _bounds(asked: Requests, unit: Amounts) -> list[int]:
    """Copy the bounds (amounts of resources) into the loop; return the bounds of each request, as bits.

    A search passes over nodes that have less free than a bound of the request. For each resource, some of the amounts
    that requests need on a node are bounds; a request has the highest one that it needs. Cores have no bounds if a
    search goes in the order of free cores.
    """
    kinds = [kind for kind in range(unit.shape[1]) if kind or not asked.sign][:_MOST_BOUNDS]
    found, wants = list[tuple[int, int]](), np.zeros(len(unit), np.int64)
    for kind in kinds:
        needed = np.unique(unit[:, kind][unit[:, kind] > 0])
        many = min(_MOST_BOUNDS // len(kinds), len(needed))
        chosen = needed[np.linspace(0, len(needed) - 1, many).astype(int)] if many else needed
        its = np.searchsorted(chosen, unit[:, kind], side="right")
        wants[its > 0] |= 1 << (len(found) + its[its > 0] - 1)
        found += [(kind, int(amount)) for amount in chosen]
    asked.bound_kind, asked.bound = (numbers(np.array(row, np.int64)) for row in zip(*found, (0, 0), strict=True))
    asked.bounds = len(found) + 1
    return [int(bits) for bits in wants]


def _tell_partitions(loop: NodeLoop, shape: Shape, requests: tuple[Request, ...], bounds: list[int]) -> None:
    asked, nodes = loop.asked, len(shape.nodes)
    masks: dict[tuple[frozenset[str], int | None], int] = {}
    first, mask, whole, limit, grows, wants = [0], *(list[int]() for _ in range(5))
    for request, its_bounds in zip(requests, bounds, strict=True):
        grows.append(request.more_always_fits)
        for number in request.groups or (None,):
            group = None if number is None else shape.groups[number]
            is_anywhere = not request.features and group is None
            mask.append(-1 if is_anywhere else masks.setdefault((request.features, number), len(masks)))
            whole.append(request.is_exclusive or (group is not None and group.is_exclusive))
            wants.append(its_bounds | whole[-1] << (asked.bounds - 1))
            most = None if group is None else group.most_nodes
            limit.append(nodes if most is None else most)
            grows[-1] = grows[-1] and most is None
        first.append(len(mask))
    told = {"first": first, "mask": mask, "whole": whole, "limit": limit, "grows": grows, "wants": wants}
    for name, values in told.items():
        setattr(asked, name, numbers(np.array(values, np.int64)))
    allowed = np.zeros((len(masks), -(-nodes // 64) * 8), np.uint8)
    for row, among in zip(allowed, masks, strict=True):
        if (nodes_of := shape.allowed(*among)) is not None:
            row[: -(-nodes // 8)] = np.packbits(nodes_of, bitorder="little")
    asked.allowed = words(allowed.view("<u8").ravel())


def _rows(rows: list[tuple[int, ...]], kinds: int) -> Amounts:
    return np.array(rows, np.int64).reshape(len(rows), kinds)


def enter(loop: NodeLoop, state: State) -> None:
    """Copy the free resources and the nodes of the running jobs into the loop, which has the running jobs already."""
    machine = state.machine
    assert isinstance(machine, NodeMachine)
    loop.begins_with = numbers(machine.left.ravel())
    loop.begin_cores()
    for cores in machine.held.values():
        for first, last in ranges(cores):
            loop.mark_cores(first, last)
    for rank, seats in machine.seats.items():
        request = machine.requests[rank]
        loop.seat_at[rank], loop.seats[rank] = loop.seated, len(seats.nodes)
        for kind, amount in enumerate(np.sum(seats.amounts, axis=0).tolist()):
            loop.held[rank * len(request.each) + kind] = amount
        for node, amounts in zip(*seats, strict=True):
            tasks = (amounts[0] - (request.per_node[0] if request.per_node else 0)) // request.each[0]
            loop.seat_node[loop.seated], loop.seat_many[loop.seated] = node, 1
            loop.seat_count[loop.seated] = tasks if request.amounts(tasks) == amounts else WHOLE
            loop.seated += 1
    loop.begin_nodes()


def settle(loop: NodeLoop, state: State) -> None:
    """Copy the free resources and the nodes of the running jobs back into the machine."""
    machine = state.machine
    assert isinstance(machine, NodeMachine)
    amounts = np.array(loop.states.free, np.int64).reshape(-1, machine.left.shape[1])
    machine.left = amounts[np.array(loop.nodes.at)]
    machine.free_set = (1 << machine.size) - 1 ^ sum(machine.held.values())
    for rank in machine.seats.keys() - state.running.keys():
        del machine.seats[rank]
    for rank in state.running.keys() - machine.seats.keys():
        first = loop.seat_at[rank]
        counts = {
            loop.seat_node[run] + index: loop.seat_count[run]
            for run in range(first, first + loop.seats[rank])
            for index in range(loop.seat_many[run])
        }
        machine.seats[rank] = Seats((*counts,), tuple(_amounts(machine, rank, *one) for one in counts.items()))


def _amounts(machine: NodeMachine, rank: int, node: int, count: int) -> tuple[int, ...]:
    return tuple(machine.shape.has[node].tolist()) if count == WHOLE else machine.requests[rank].amounts(count)
