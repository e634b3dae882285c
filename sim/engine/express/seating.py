"""Copying of a machine of nodes into the fast loop of `sim.kernel` and back: the requests of the jobs, and which nodes
running jobs hold.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sim.engine.express.columns import numbers, times, words
from sim.engine.state import State
from sim.kernel.node_loop import UNKNOWN, NodeLoop
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
_UPPER_BITS = 3
"""Number of bits of an amount, from its highest one, in sets of nodes: a search passes over nodes in whose free amount
these bits are less than in what the request needs
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
    kinds_of_nodes, (each, once) = len(np.unique(shape.has, axis=0)), _amounts_of(requests, len(shape.kinds))
    return (
        most < _MOST_AMOUNT
        and _fields(shape.has)[1] + (kinds_of_nodes - 1).bit_length() <= 64
        and len(sets) * len(shape.nodes) < _MOST_ALLOWED
        and shape.placement != "consecutive"
        and len(shape.nodes) * int(shape.has[:, 0].max(initial=0)) < _MOST_LEVELS
        and bool((each[:, 0] > 0).all() and (each + once < _MOST_AMOUNT).all())
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
    each, once = _amounts_of(requests, len(shape.kinds))
    count = np.array([request.tasks or request.nodes or 0 for request in requests], np.int64)
    least = np.array([request.least if request.tasks else 1 for request in requests], np.int64)
    asked.requests = len(requests)
    asked.has = numbers(shape.has.ravel())
    asked.before = times(np.vstack([np.zeros(len(shape.kinds)), np.cumsum(shape.has, axis=0)]).ravel())
    asked.of = numbers(numbered)
    asked.each, asked.once, asked.unit = (numbers(rows.ravel()) for rows in (each, once, each + once))
    _tell_fields(asked, shape.has, each, once)
    asked.total = times((each * count[:, None] + once * least[:, None]).ravel().astype(np.float64))
    asked.count, asked.least = numbers(count), numbers(least)
    room = np.where(each > 0, shape.has.max(axis=0) // np.maximum(each, 1), _MOST_AMOUNT).min(axis=1)
    asked.most_room = numbers(np.clip(room, 1, [request.tasks or 1 for request in requests]))
    asked.tasks = numbers(np.array([request.tasks or 0 for request in requests], np.int64))
    most = [request.most or len(shape.nodes) if request.tasks else len(shape.nodes) for request in requests]
    asked.most = numbers(np.array(most, np.int64))
    _tell_partitions(loop, shape, requests)
    classes = _tell_classes(asked, requests)
    for name in ("refused", "spared", "fits_at"):
        setattr(loop, name, numbers(np.zeros(len(requests), np.int32)))
    for name in ("delays_at", "delays_from", "looked_at", "freed_before"):
        setattr(loop, name, numbers(np.zeros(classes, np.int32)))
    loop.places = numbers(np.full(classes, UNKNOWN))


def _tell_classes(asked: Requests, requests: tuple[Request, ...]) -> int:
    """Copy the classes of the requests into the loop; return their number."""
    classes: dict[object, int] = {}
    grows, least, count = (np.array(column).tolist() for column in (asked.grows, asked.least, asked.count))
    like, widest = list[int](), list[int]()
    for number, request in enumerate(requests):
        is_counted = grows[number] and least[number] <= 1 and len(request.groups) <= 1
        of = request.each, request.per_node, request.features, request.is_exclusive, request.groups, not request.tasks
        at = classes.setdefault(of if is_counted else number, len(classes))
        like.append(at)
        if at == len(widest):
            widest.append(number)
        elif count[number] > count[widest[at]]:
            widest[at] = number
    asked.like, asked.widest = numbers(np.array(like, np.int64)), numbers(np.array(widest, np.int64))
    return len(classes)


def _fields(has: Amounts) -> tuple[list[int], int]:
    """Return, for each resource, the lowest bit of its field in the state of a node, and the first bit behind all
    fields. Above each field is one more bit.
    """
    ends = np.cumsum([int(most + 1).bit_length() + 1 for most in has.max(axis=0, initial=0)]).tolist()
    return [0, *ends[:-1]], ends[-1]


def _tell_fields(asked: Requests, has: Amounts, each: Amounts, once: Amounts) -> None:
    """Copy the fields of the states of nodes into the loop, and the amounts of nodes and requests as such fields."""
    fields, end = _fields(has)
    most, shifts = has.max(axis=0), np.array(fields, np.uint64)
    bits = np.diff([*fields, end]) - 1

    def packed(amounts: Amounts) -> NDArray[np.uint64]:
        states: NDArray[np.uint64] = (amounts.astype(np.uint64) << shifts).sum(axis=-1, dtype=np.uint64)
        return states

    alike = np.unique(has, axis=0, return_inverse=True)[1].ravel().astype(np.uint64) << np.uint64(end)
    unit = np.minimum(each + once, most + 1)
    asked.field, asked.mask_of = numbers(shifts), words((1 << bits).astype(np.uint64) - np.uint64(1))
    asked.guards = int(packed(1 << bits))
    asked.needed = int(packed(unit.min(axis=0, initial=int(most.max()) + 1)))
    asked.full, asked.empty = words(alike), words(alike + packed(has))
    asked.each_in, asked.once_in, asked.unit_in = (words(packed(np.minimum(a, most + 1))) for a in (each, once, unit))
    coarse = np.maximum(0, [int(one).bit_length() - _UPPER_BITS for one in most])
    if asked.sign:
        coarse[0] = bits[0]  # searches go by free cores in any case
    asked.bounding = int(packed((1 << bits) - (1 << coarse)))


def _tell_partitions(loop: NodeLoop, shape: Shape, requests: tuple[Request, ...]) -> None:
    asked, nodes = loop.asked, len(shape.nodes)
    masks: dict[tuple[frozenset[str], int | None], int] = {}
    first, mask, whole, limit, grows = [0], *(list[int]() for _ in range(4))
    for request in requests:
        grows.append(request.more_always_fits)
        for number in request.groups or (None,):
            group = None if number is None else shape.groups[number]
            is_anywhere = not request.features and group is None
            mask.append(-1 if is_anywhere else masks.setdefault((request.features, number), len(masks)))
            whole.append(request.is_exclusive or (group is not None and group.is_exclusive))
            most = None if group is None else group.most_nodes
            limit.append(nodes if most is None else most)
            grows[-1] = grows[-1] and most is None
        first.append(len(mask))
    told = {"first": first, "mask": mask, "whole": whole, "limit": limit, "grows": grows}
    for name, values in told.items():
        setattr(asked, name, numbers(np.array(values, np.int64)))
    allowed = np.zeros((len(masks), -(-nodes // 64) * 8), np.uint8)
    for row, among in zip(allowed, masks, strict=True):
        if (nodes_of := shape.allowed(*among)) is not None:
            row[: -(-nodes // 8)] = np.packbits(nodes_of, bitorder="little")
    asked.allowed = words(allowed.view("<u8").ravel())


def _amounts_of(requests: tuple[Request, ...], kinds: int) -> tuple[Amounts, Amounts]:
    """Return the amounts of each resource for each task (or node), and once on each node, with a row a request."""
    nothing = (0,) * kinds
    rows = [request.each for request in requests], [request.per_node or nothing for request in requests]
    each, once = (np.array(row, np.int64).reshape(-1, kinds) for row in rows)
    return each, once


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
        loop.seats_at[rank], loop.seats_of[rank] = loop.seated, len(seats.nodes)
        for kind, amount in enumerate(np.sum(seats.amounts, axis=0).tolist()):
            loop.held[rank * len(request.each) + kind] = amount
        for node, amounts in zip(*seats, strict=True):
            tasks = (amounts[0] - (request.per_node[0] if request.per_node else 0)) // request.each[0]
            runs, at = loop.seats, loop.seated
            runs.node[at], runs.many[at] = node, 1
            runs.tasks[at] = tasks if request.amounts(tasks) == amounts else WHOLE
            loop.seated += 1
    loop.begin_nodes()


def settle(loop: NodeLoop, state: State) -> None:
    """Copy the free resources and the nodes of the running jobs back into the machine."""
    machine = state.machine
    assert isinstance(machine, NodeMachine)
    fields, mask = np.array(loop.asked.field, np.uint64), np.array(loop.asked.mask_of, np.uint64)
    machine.left = (np.array(loop.nodes.at, np.uint64)[:, None] >> fields & mask).astype(np.int64)
    machine.free_set = (1 << machine.size) - 1 ^ sum(machine.held.values())
    for rank in machine.seats.keys() - state.running.keys():
        del machine.seats[rank]
    for rank in state.running.keys() - machine.seats.keys():
        first, runs, nodes, amounts = loop.seats_at[rank], loop.seats, list[int](), list[tuple[int, ...]]()
        for run in range(first, first + loop.seats_of[rank]):
            node, many, count = runs.node[run], runs.many[run], runs.tasks[run]
            nodes += range(node, node + many)
            if count == WHOLE:
                amounts += map(tuple, machine.shape.has[node : node + many].tolist())
            else:
                amounts += [machine.requests[rank].amounts(count)] * many
        machine.seats[rank] = Seats(tuple(nodes), tuple(amounts))
