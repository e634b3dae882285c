"""Shortage: why a request does not fit on the nodes, counted on the nodes that it may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.support.formatting import count
from sim.workload.shape import NODE_PLACEMENTS, Amounts, Kept, Request, Shape, in_amounts


class Shortage(NamedTuple):
    """Numbers that say why a request does not fit on the nodes."""

    free: int
    usable: int
    """Number of these cores on nodes that the job may use by its partitions, features and reservations."""
    on: int
    """Number of nodes that the job may use and that have free cores."""
    able: int
    """Places found, of the `needed` ones."""
    needed: int
    place: str
    """Text on what a place is, such as "nodes" or "tasks on at most 2 nodes"."""
    have: int
    """Number of the `on` nodes which have what `wants` says."""
    wants: str
    """Resources or state that too few nodes have, such as "with 4 GPUs" or "wholly free"; may be empty."""


class _Part(NamedTuple):
    """Nodes of one partition (or of the machine) that the request may use."""

    nodes: Kept
    is_whole: bool
    most: int | None
    """Largest number of nodes of a job there; None if there is no limit."""
    room: NDArray[np.int64]
    """For each node: number of tasks, or of shares of a node, that have room on it."""

    def found(self, request: Request) -> int:
        """Return how many tasks (or nodes with room) the nodes have together, at most as many as the request needs."""
        if request.tasks is None:
            return min(int((self.room > 0).sum()), request.nodes or 0)
        return min(int(self.room.sum()), request.tasks)


def shortage(shape: Shape, request: Request, free: Amounts, total: int) -> Shortage:
    """Return why the request does not fit; `free` is 0 on nodes that reservations keep from the job."""
    parts = [_part(shape, request, free, number) for number in request.groups or (None,)]
    parts = [part for part in parts if (part.most or inf) >= (request.nodes or 0)] or parts
    fullest = max(parts, key=lambda part: (part.found(request), int(part.room.max(initial=0))))
    place, needed, counted = _places(shape, request, free, fullest)
    able = max(map(counted, parts))
    if able >= needed:
        able = counted(fullest)
    nodes = np.logical_or.reduce([part.nodes for part in parts])
    have, wants = 0, ""
    every = _Part(nodes, False, fullest.most, np.max([part.room for part in parts], axis=0))
    if counted(every) < needed and place in ("nodes", "tasks"):
        have, wants = _scarcest(shape, request, free, parts)
    if counted(every) != able:
        place += " in one partition"
    cores = np.where(nodes, free[:, 0], 0)
    return Shortage(total, int(cores.sum()), int((cores > 0).sum()), able, needed, place, have, wants)


def room_for(shape: Shape, request: Request, free: Amounts) -> NDArray[np.int64]:
    """Return, for each node, how many tasks of the request have room on it, or 1 if its share of a node has."""
    parts = (_part(shape, request, free, number) for number in request.groups or (None,))
    room: NDArray[np.int64] = np.max([part.room for part in parts], axis=0)
    return np.minimum(room, 1 if request.tasks is None else request.tasks)


def _part(shape: Shape, request: Request, free: Amounts, number: int | None) -> _Part:
    allowed = shape.allowed(request.features, number)
    nodes = np.ones(len(free), np.bool_) if allowed is None else allowed
    group = None if number is None else shape.groups[number]
    is_whole = request.is_exclusive or (group is not None and group.is_exclusive)
    fitting = nodes & (free == shape.has).all(axis=1) if is_whole else nodes
    room = np.maximum(np.where(fitting, shape.room(request, free), 0), 0)
    limits = [most for most in (request.most, None if group is None else group.most_nodes) if most is not None]
    return _Part(nodes, is_whole, min(limits, default=None), room)


def _places(shape: Shape, request: Request, free: Amounts, fullest: _Part) -> tuple[str, int, Callable[[_Part], int]]:
    """Return (what a place is, places needed, counter of a partition's places); `fullest` has the most room."""
    able, tasks, most = int((fullest.room > 0).sum()), request.tasks, fullest.most
    if tasks is None:
        return "nodes", request.nodes or 0, lambda part: int((part.room > 0).sum())
    if able < request.least and request.least > 1:
        return "nodes", request.least, lambda part: int((part.room > 0).sum())
    if fullest.found(request) < tasks or most is None or most >= able:
        return "tasks", tasks, lambda part: part.found(request)
    if int(np.sort(fullest.room)[-most:].sum()) < tasks:
        place = f"tasks on at most {count(most, 'node')}"
        return place, tasks, lambda part: int(np.sort(part.room)[-most:].sum())
    order = np.argsort(NODE_PLACEMENTS[shape.placement] * free[:, 0], kind="stable")
    place = f"tasks on the first {'node' if most == 1 else f'{most:,} nodes'} by placement {shape.placement}"
    return place, tasks, lambda part: int(part.room[order[part.room[order] > 0]][:most].sum())


def _scarcest(shape: Shape, request: Request, free: Amounts, parts: Sequence[_Part]) -> tuple[int, str]:
    """Return (number of nodes, what they have): as little as tells the nodes with room from all others."""
    able = int(np.logical_or.reduce([part.room > 0 for part in parts]).sum())
    whole = (free == shape.has).all(axis=1)
    open_to = np.logical_or.reduce([part.nodes & whole if part.is_whole else part.nodes for part in parts])
    open_to = open_to & (free[:, 0] > 0)
    before = "wholly free" if all(part.is_whole for part in parts) else ""
    if before and int(open_to.sum()) == able:
        return able, before
    unit = request.amounts(1)
    wanted = [kind for kind, amount in enumerate(unit) if amount]
    enough = {kind: open_to & (free[:, kind] >= unit[kind]) for kind in wanted}
    # cores are named first if no node has enough of them, otherwise another resource says more
    wanted.sort(key=lambda kind: bool(enough[kind].any()) if kind == 0 else False)
    for many in sorted({1, 2, len(wanted)}):
        for kinds in combinations(wanted, many):
            if int(np.logical_and.reduce([enough[kind] for kind in kinds]).sum()) == able:
                told = in_amounts(shape.kinds, [amount if kind in kinds else 0 for kind, amount in enumerate(unit)])
                return able, f"{before} with {told}".lstrip()
    return able, before
