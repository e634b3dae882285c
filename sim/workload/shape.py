"""Shape of a machine of nodes: the resources of each node, what jobs request of them, and where a job fits.

This is the only place that knows how a request is placed on nodes. On equal processors a workload has no `Shape`. Cores
are numbered node after node, so a set of cores is a set of processors as everywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sim.errors import ParameterError
from sim.formatting import count
from sim.workload.limit_rules import LimitRule

NodePlacement = Literal["lowest", "best", "spread"]
NODE_PLACEMENTS: dict[str, int] = {"lowest": 0, "best": 1, "spread": -1}
"""Order of nodes under each placement rule: 0 by number, 1 the fewest free cores first, -1 the most free cores
first.
"""
Amounts: TypeAlias = NDArray[np.int64]
"""Array with an amount for each resource, cores first and memory second; for several nodes one row each."""
Kept: TypeAlias = NDArray[np.bool_]
BARS = ("cores", "memory", "gpus", "place")
"""Causes that bar a part of a request from a node: too few free cores, too little free memory, too few other resources,
and a node that the request may not use.
"""
OPEN = -1
"""Number in place of a cause for a node that has room."""


class Seats(NamedTuple):
    """Nodes that a job gets, by number in ascending order, and the amounts that it takes on each of them."""

    nodes: tuple[int, ...]
    amounts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ComputeNode:
    """Node with its resources, and with the features that a job can request."""

    name: str
    cores: int
    memory: int = 0
    """Memory of the node in MB."""
    others: tuple[tuple[str, int], ...] = ()
    """Other countable resources of the node and their amounts, such as gpu."""
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Partition of a cluster: a set of nodes, which may overlap with others, and its limits."""

    name: str
    nodes: frozenset[int]
    most_time: float | None = None
    """Longest estimate in seconds of a job in this partition; None if there is no limit."""
    most_nodes: int | None = None
    priority: int = 0
    is_exclusive: bool = False
    """True if every job gets whole nodes."""
    factor: int = 1
    """Weight of the partition in Slurm's multifactor priority (PriorityJobFactor); `priority` is the PriorityTier."""


@dataclass(frozen=True, slots=True)
class Request:
    """Request of a job: either `nodes` nodes with `each` on every one, or `tasks` tasks with `each`, on `least` to
    `most` nodes.
    """

    each: tuple[int, ...]
    """Amount of each resource that the job needs per node, or per task."""
    nodes: int | None = None
    tasks: int | None = None
    least: int = 1
    most: int | None = None
    per_node: tuple[int, ...] = ()
    """Amounts that a job with tasks needs once on each of its nodes, such as memory per node; empty if there are
    none.
    """
    features: frozenset[str] = frozenset()
    is_exclusive: bool = False
    groups: tuple[int, ...] = ()
    """Numbers of the partitions in the order in which they are tried; empty for the whole machine."""

    @property
    def cores(self) -> int:
        """Return the number of cores that the request needs."""
        return self.each[0] * (self.tasks if self.tasks is not None else self.nodes or 0)

    @property
    def more_always_fits(self) -> bool:
        """Return True if more free resources never prevent a fit. A limit on the number of nodes makes that
        possible.
        """
        return self.tasks is None or self.most is None or self.most >= self.tasks

    def amounts(self, tasks: int) -> tuple[int, ...]:
        """Return the amounts that this number of tasks takes of one node.

        >>> Request((2, 30), tasks=8, per_node=(0, 100)).amounts(3)
        (6, 190)
        """
        once = self.per_node or (0,) * len(self.each)
        return tuple(each * tasks + more for each, more in zip(self.each, once, strict=True))

    def written(self, kinds: Sequence[str]) -> str:
        """Return the request as text.

        >>> Request((4, 30), tasks=10, most=2).written(("cores", "memory"))
        '10 tasks of 4 cores and 30 MB on at most 2 nodes'
        """
        names = ("core", "MB", *kinds[2:])
        parts = [
            f"{amount:,} MB" if name == "MB" else count(amount, name)
            for amount, name in zip(self.each, names, strict=True)
            if amount
        ]
        unit = count(self.nodes or 0, "node") if self.tasks is None else count(self.tasks, "task")
        text = f"{unit} of {' and '.join(parts)}"
        if self.tasks is not None and self.most is not None and self.most < self.tasks:
            text += f" on at most {count(self.most, 'node')}"
        return text + (", exclusive" if self.is_exclusive else "")


@dataclass(frozen=True)
class Shape:
    """Nodes of a machine in a fixed order, and what each job requests of them, by rank of the job."""

    nodes: tuple[ComputeNode, ...]
    groups: tuple[NodeGroup, ...] = ()
    requests: tuple[Request, ...] = ()
    placement: NodePlacement = "best"
    ran: tuple[Seats | None, ...] = ()
    """Nodes and amounts that each job had according to the trace, None if unknown; empty if the trace does not record
    nodes.
    """
    limits: tuple[LimitRule, ...] = ()
    """Limits of users, accounts and qualities of service."""

    def __repr__(self) -> str:
        return f"<Shape {len(self.nodes):,} nodes, {self.cores:,} cores>"

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of the resources, in the order of the amounts."""
        return ("cores", "memory", *sorted({name for node in self.nodes for name, _ in node.others}))

    @cached_property
    def has(self) -> Amounts:
        """Return the amounts of all resources that every node has when it is empty."""
        rows = [
            [node.cores, node.memory, *(dict(node.others).get(k, 0) for k in self.kinds[2:])] for node in self.nodes
        ]
        return np.array(rows, dtype=np.int64).reshape(len(self.nodes), len(self.kinds))

    @cached_property
    def first_core(self) -> tuple[int, ...]:
        """Return the number of each node's first core; the last entry is the number of all cores."""
        return tuple(np.concatenate([[0], np.cumsum(self.has[:, 0])]).tolist())

    @property
    def cores(self) -> int:
        """Return the number of cores of all nodes."""
        return self.first_core[-1]

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Return the highest tier among the partitions of each job; empty if all partitions are of one tier."""
        if len({group.priority for group in self.groups}) < 2:
            return ()
        return tuple(max((self.groups[n].priority for n in request.groups), default=0) for request in self.requests)

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """Return the factor from 0 to 1 of each job's partitions in its priority; empty if all are equal."""
        most = max((group.factor for group in self.groups), default=0)
        if not most or len({group.factor for group in self.groups}) < 2:
            return ()
        return tuple(
            max((self.groups[n].factor for n in request.groups), default=0) / most for request in self.requests
        )

    def placed(self, placement: str) -> Shape:
        """Return the shape with this placement rule; the default `lowest` keeps the rule of the machine's file."""
        if placement == "lowest":
            return self
        if placement not in NODE_PLACEMENTS:
            raise ParameterError(f"no placement {placement} on nodes; there are {', '.join(NODE_PLACEMENTS)}")
        return replace(self, placement=cast(NodePlacement, placement))

    def take(self, index: Iterable[int]) -> Shape:
        """Return the shape with the requests of only these jobs."""
        jobs = list(index)
        ran = tuple(self.ran[i] for i in jobs) if self.ran else ()
        return replace(self, requests=tuple(self.requests[i] for i in jobs), ran=ran)

    def nodes_of(self, cores: int) -> tuple[int, ...]:
        """Return the numbers of the nodes to which a set of cores (bits) belongs."""
        firsts = self.first_core
        return tuple(n for n in range(len(self.nodes)) if cores >> firsts[n] & ((1 << (firsts[n + 1] - firsts[n])) - 1))

    # Where a request fits

    def seat(self, request: Request, free: Amounts) -> Seats | None:
        """Return the nodes that a request gets if `free` is free on each node; None if it does not fit."""
        if not request.groups:
            return self._seat(request, free, self._allowed(request.features, None), request.is_exclusive)
        for number in request.groups:
            group = self.groups[number]
            whole = request.is_exclusive or group.is_exclusive
            seats = self._seat(request, free, self._allowed(request.features, number), whole)
            if seats is not None and (group.most_nodes is None or len(seats.nodes) <= group.most_nodes):
                return seats
        return None

    def fits(self, request: Request, free: Amounts) -> bool:
        """Return True if a request fits when `free` is free on each node, without choosing nodes if counting is
        enough.
        """
        groups = [self.groups[number] for number in request.groups]
        has_limits = any(group.most_nodes is not None for group in groups)
        if has_limits or not request.more_always_fits or (request.tasks is not None and request.least > 1):
            return self.seat(request, free) is not None
        for number in request.groups or (None,):
            whole = request.is_exclusive or (number is not None and self.groups[number].is_exclusive)
            room = self._free_room(request, free, self._allowed(request.features, number), whole)
            if request.tasks is None:
                if np.count_nonzero(room > 0) >= (request.nodes or 0):
                    return True
            elif int(room[room > 0].sum()) >= request.tasks:
                return True
        return False

    def _free_room(self, request: Request, free: Amounts, allowed: Kept | None, whole: bool) -> Amounts:
        room = self._room(request, free)
        if allowed is not None:
            room = np.where(allowed, room, 0)
        return np.where((free == self.has).all(axis=1), room, 0) if whole else room

    def _seat(self, request: Request, free: Amounts, allowed: Kept | None, whole: bool) -> Seats | None:
        room = self._free_room(request, free, allowed, whole)
        able = np.flatnonzero(room > 0)
        by_tasks = request.tasks is not None
        if len(able) < (request.least if by_tasks else request.nodes or 0):
            return None
        if request.tasks is not None and int(room[able].sum()) < request.tasks:
            return None
        sign = NODE_PLACEMENTS[self.placement]
        if sign:
            able = able[np.argsort(sign * free[able, 0], kind="stable")]
        counts = self._tasks(request, room[able].tolist()) if by_tasks else [1] * (request.nodes or 0)
        if counts is None:
            return None
        chosen = sorted(zip(able[: len(counts)].tolist(), counts, strict=True))
        if whole:
            amounts = tuple(tuple(self.has[node].tolist()) for node, _ in chosen)
        else:
            known = {n: request.amounts(n) for n in set(counts)}
            amounts = tuple(known[n] for _, n in chosen)
        return Seats(tuple(node for node, _ in chosen), amounts)

    @staticmethod
    def _room(request: Request, free: Amounts) -> Amounts:
        """Return the number of tasks, or of whole requests for a node, that fit on each node."""
        room: Amounts | None = None
        for kind, amount in enumerate(request.each):
            once = request.per_node[kind] if request.per_node else 0
            if not amount and not once:
                continue
            left = free[:, kind] - once
            fit = left // amount if amount else (left >= 0) * np.int64(request.tasks or 1)
            room = fit if room is None else np.minimum(room, fit)
        if room is None:
            return np.full(len(free), request.tasks or 1, dtype=np.int64)
        return room

    @staticmethod
    def _tasks(request: Request, room: list[int]) -> list[int] | None:
        """Return the number of tasks on each node, if nodes are filled in this order; None if not all tasks fit."""
        left, counts = request.tasks or 0, list[int]()
        most = request.most or len(room)
        if request.least <= 1:
            for have in room[:most]:
                if have >= left:
                    return [*counts, left]
                counts.append(have)
                left -= have
            return None
        for have in room[:most]:
            spared = max(request.least - len(counts) - 1, 0)  # each further node must get a task
            counts.append(min(have, left - spared))
            left -= counts[-1]
            if not left:
                return counts
        return None

    def _allowed(self, features: frozenset[str], group: int | None) -> Kept | None:
        """Return which nodes have these features and are in this partition; None if all nodes qualify."""
        if not features and group is None:
            return None
        known = self._masks.get((features, group))
        if known is None:
            inside = self.groups[group].nodes if group is not None else None
            known = self._masks[features, group] = np.array(
                [features <= node.features and (inside is None or at in inside) for at, node in enumerate(self.nodes)]
            )
        return known

    @cached_property
    def _masks(self) -> dict[tuple[frozenset[str], int | None], Kept]:
        return {}

    def lack(self, request: Request, free: Amounts) -> tuple[int, int, int, int, str, str]:
        """Return what the request lacks: free cores, nodes with free cores, places found and needed, what a place is,
        and the resource of which too few nodes have enough.
        """
        cores = free[:, 0]
        group = request.groups[0] if request.groups else None
        room, allowed = self._room(request, free), self._allowed(request.features, group)
        if allowed is not None:
            room = np.where(allowed, room, 0)
        short = self._short(request, free, allowed)
        if request.is_exclusive or (group is not None and self.groups[group].is_exclusive):
            whole = (free == self.has).all(axis=1)
            room, short = np.where(whole, room, 0), f"{int(whole.sum()) or 'none'} wholly free"
        able = np.maximum(room, 0)
        total, on = int(cores.sum()), int((cores > 0).sum())
        if request.tasks is None:
            return total, on, int((able > 0).sum()), request.nodes or 0, "nodes", short
        tried = np.argsort(NODE_PLACEMENTS[self.placement] * cores, kind="stable")
        found = able[tried[able[tried] > 0]][: request.most].sum()
        return total, on, int(min(found, request.tasks)), request.tasks, "tasks", short

    def _short(self, request: Request, free: Amounts, allowed: Kept | None) -> str:
        """Return the resource that the fewest nodes with enough cores have enough of, for a task or a share of the
        request, as text: `none with 4 GPUs`. It is the cores if no node has enough of them.
        """
        unit, nodes = request.amounts(1), np.ones(len(free), np.bool_) if allowed is None else allowed
        nodes = nodes & (free[:, 0] >= unit[0])
        found = [int((nodes & (free[:, kind] >= amount)).sum()) for kind, amount in enumerate(unit)]
        wanted = [kind for kind, amount in enumerate(unit) if amount]
        if not wanted:
            return ""
        kind = min(wanted, key=lambda kind: (found[kind], kind == 0 and found[0] > 0))
        amount, name = unit[kind], self.kinds[kind]
        told = f"{amount:,} MB" if kind == 1 else count(amount, "GPU" if name == "gpu" else name.removesuffix("s"))
        return f"{found[kind]:,} with {told}" if found[kind] else f"none with {told}"

    def bars(self, request: Request, free: Amounts) -> NDArray[np.int8]:
        """Return for each node what bars one task of the request, or its share of a node: `OPEN`, or a number of
        `BARS`.
        """
        once = np.array(request.per_node or (0,) * len(request.each))
        short = free < once + request.each
        first = np.where(short[:, 0], 0, np.where(short[:, 1], 1, np.where(short[:, 2:].any(axis=1), 2, OPEN)))
        found = np.full(len(free), BARS.index("place"), np.int8)
        for number in request.groups or (None,):
            allowed = self._allowed(request.features, number)
            open_to = np.ones(len(free), np.bool_) if allowed is None else allowed.copy()
            if request.is_exclusive or (number is not None and self.groups[number].is_exclusive):
                open_to &= (free == self.has).all(axis=1)
            found[open_to] = first[open_to]
        return found

    def fault(self, request: Request, seats: Seats) -> str:
        """Return text on a part of the request that these nodes do not meet; "" if they meet all of it."""
        groups = [self.groups[number] for number in request.groups]
        if groups and not any(group.nodes.issuperset(seats.nodes) for group in groups):
            return "a job is on nodes outside its partitions"
        if any(not request.features <= self.nodes[node].features for node in seats.nodes):
            return "a job is on a node without its features"
        whole = request.is_exclusive or bool(groups and all(group.is_exclusive for group in groups))
        if whole and not (self.has[list(seats.nodes)] == seats.amounts).all():
            return "an exclusive job does not hold all of its nodes"
        if request.nodes is not None and len(seats.nodes) != request.nodes:
            return "a job has more or fewer nodes than it asked for"
        if not whole and sum(amounts[0] for amounts in seats.amounts) != request.cores:
            return "a job holds more or fewer cores than it asked for"
        if not request.least <= len(seats.nodes) <= (request.most or len(self.nodes)) and request.tasks is not None:
            return "a job is on more or fewer nodes than it allows"
        return ""

    # Why a job can never start

    def why_never(self, request: Request, estimate: float) -> str:
        """Return text on why even the empty machine cannot meet the request; "" if it can."""
        if request.groups:
            limits = [self.groups[number].most_time for number in request.groups]
            if all(most is not None and estimate > most for most in limits):
                return "longer than its partition allows"
        if self.seat(request, self.has) is not None:
            return ""
        return f"never fits the machine: {self._missing(request)}"

    def within_limits(self, request: Request, estimate: float) -> Request:
        """Return the request without the partitions whose time limit is below the job's estimate."""
        limits = ((number, self.groups[number].most_time) for number in request.groups)
        groups = tuple(number for number, most in limits if most is None or estimate <= most)
        return request if groups == request.groups else replace(request, groups=groups)

    def _missing(self, request: Request) -> str:
        """Return text on the first resource of which no node has enough, or else that too few nodes have enough."""
        for kind, (amount, name) in enumerate(zip(request.each, self.kinds, strict=True)):
            if amount > self.has[:, kind].max(initial=0):
                return f"no node has enough {name}"
        if request.features and not any(request.features <= node.features for node in self.nodes):
            return "no node has its features"
        return "too few nodes have enough together"


def misfits_of(shape: Shape, estimates: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
    """Return the jobs that can never start on this machine, as a column of True and False for each reason."""
    found: dict[str, NDArray[np.bool_]] = {}
    known: dict[tuple[Request, float], str] = {}
    for at, (request, estimate) in enumerate(zip(shape.requests, estimates.tolist(), strict=True)):
        asked = (request, estimate if request.groups else 0)
        if asked not in known:
            known[asked] = shape.why_never(*asked)
        if why := known[asked]:
            found.setdefault(why, np.zeros(len(shape.requests), dtype=np.bool_))[at] = True
    return found
