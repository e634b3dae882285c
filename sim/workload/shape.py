"""Shape of a machine of nodes: the resources of each node, what jobs request of them, and where a job fits.

Only this module decides how a request is placed on nodes. A workload on equal processors has no `Shape`. Cores are
numbered node after node, so that a set of cores is a set of processors like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import ParameterError
from sim.support.formatting import count, listed, printable, shortened
from sim.workload.columns import numbered
from sim.workload.limit_rules import LimitRule
from sim.workload.reserved_nodes import Admission, NodeReservation, Reserved


class ShareEntry(NamedTuple):
    """Entry of the tree: an account, or a user in an account."""

    account: str
    user: str = ""
    parent: str = ""
    """For an account: account above it, "" below the root."""
    shares: int | None = 1
    """Shares relative to the other entries at the same place; None if the entry takes part with those of its parent."""
    usage: float = 0.0
    """Usage before the trace begins, in processor seconds, of which older ones count less."""


class Ranked:
    """Properties of a machine's shape that decide which jobs come before others in Slurm's priority."""

    nodes: tuple[Any, ...]
    groups: tuple[Any, ...]
    requests: tuple[Any, ...]
    qos: tuple[tuple[str, int], ...]

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Return each job's highest tier of its partitions (else 0); reservations are above all. Empty if equal."""
        confined = [request.admitted.within >= 0 for request in self.requests]
        tiers = [*map(int, self._best([group.priority for group in self.groups]))]
        if not any(confined):
            return tuple(tiers)
        first = max(tiers, default=0) + 1
        return tuple(first if own else tier for own, tier in zip(confined, tiers or [0] * len(confined), strict=True))

    @property
    def confines(self) -> bool:
        return any(request.admitted.within >= 0 for request in self.requests)

    @cached_property
    def has_choice(self) -> bool:
        return any(len(request.groups) > 1 for request in self.requests)

    @cached_property
    def parts(self) -> tuple[float, ...]:
        """Return, for each partition by number, its factor divided by the highest of all; 0 if it is negative."""
        most = max((group.factor for group in self.groups), default=0)
        return tuple(max(group.factor, 0) / most if most > 0 else 0.0 for group in self.groups)

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """Return each job's highest factor of its partitions (else 0) over that of all; empty if equal, no choice."""
        return self._best(self.parts) if any(self.parts) else ()

    @cached_property
    def qos_factors(self) -> tuple[float, ...]:
        """Return the priority of each job's QOS over the highest of all, at least 0; empty if all are equal."""
        known = {name: max(priority, 0) for name, priority in self.qos}
        most = max(known.values(), default=0)
        found = tuple(known.get(request.qos, 0) / most for request in self.requests) if most else ()
        return found if len({*found}) > 1 else ()

    @cached_property
    def node_parts(self) -> tuple[float, ...]:
        """Return, for each job by rank, the least number of nodes that it asks for, divided by the number of nodes."""
        nodes: int = len(self.nodes)
        return tuple((r.nodes if r.nodes is not None else r.least) / nodes for r in self.requests)

    def _best(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return each job's highest of `values` (by partition); empty if all are equal and none has a choice."""
        if not values or (len({*values}) < 2 and all(bool(request.groups) for request in self.requests)):
            return ()
        found = tuple(max((values[n] for n in request.groups), default=0.0) for request in self.requests)
        return found if len({*found}) > 1 or self.has_choice else ()


NodePlacement = Literal["lowest", "best", "spread", "consecutive"]
NODE_PLACEMENTS: dict[str, int] = {"lowest": 0, "best": 1, "spread": -1, "consecutive": 0}
"""Mapping from a placement rule to the order of nodes: 0 by number, 1 fewest free cores first, -1 most."""
Amounts: TypeAlias = NDArray[np.int64]
"""Array with the amount of each resource: cores, memory, then others. For several nodes, it has a row for each node."""
Kept: TypeAlias = NDArray[np.bool_]
BARS = ("cores", "memory", "gpus", "place")
"""Causes why a part of a request does not fit on a node; `place`: the request may not use the node."""
OPEN = -1
"""Number in place of a cause (an index in `BARS`) if the node has space."""


class _Seats(NamedTuple):
    nodes: tuple[int, ...]
    amounts: tuple[tuple[int, ...], ...]


class Seats(_Seats):
    """Nodes that a job gets, in ascending order, and for each the amounts of all resources that it takes there."""

    @classmethod
    def of(cls, nodes: NDArray[np.intp], amounts: Amounts) -> Self:
        made = cls(tuple(nodes.tolist()), tuple(map(tuple, amounts.tolist())))
        made.columns = nodes, amounts
        return made

    @cached_property
    def columns(self) -> tuple[NDArray[np.intp], Amounts]:
        return np.array(self.nodes, np.intp), np.array(self.amounts, np.int64).reshape(len(self.nodes), -1)


@dataclass(frozen=True, slots=True)
class ComputeNode:
    """Node with its resources, and with the features that a job can request."""

    name: str
    cores: int
    memory: int = 0
    others: tuple[tuple[str, int], ...] = ()
    """Other countable resources of the node, as pairs (name, amount), such as ("gpu", 4)."""
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Partition of a cluster: a set of nodes, which may be in several partitions, and limits for its jobs."""

    name: str
    nodes: frozenset[int]
    most_time: float | None = None
    """Longest estimate in seconds of a job in this partition; None if there is no limit."""
    most_nodes: int | None = None
    priority: int = 0
    is_exclusive: bool = False
    """True if every job gets whole nodes."""
    factor: int = 1
    """Weight in Slurm's multifactor priority (PriorityJobFactor); `priority` is the tier (PriorityTier)."""


@dataclass(frozen=True, slots=True)
class Request:
    """Request of `nodes` nodes with `each` on every one, or of `tasks` with `each`, on `least` to `most` nodes."""

    each: tuple[int, ...]
    """Amount of each resource that the job needs for each node or, if `tasks` is given, for each task."""
    nodes: int | None = None
    tasks: int | None = None
    least: int = 1
    most: int | None = None
    per_node: tuple[int, ...] = ()
    """For tasks: amount of each resource needed once on each node, however many run there; empty if none."""
    features: frozenset[str] = frozenset()
    is_exclusive: bool = False
    groups: tuple[int, ...] = ()
    """Partitions that the job may use, in the order in which they are tried; empty for the whole machine."""
    admitted: Admission = Admission()
    qos: str = ""

    @property
    def cores(self) -> int:
        return self.each[0] * (self.tasks if self.tasks is not None else self.nodes or 0)

    @property
    def more_always_fits(self) -> bool:
        """Return True if the request, once it fits, fits whenever more is free; a limit on nodes can prevent that."""
        return self.tasks is None or self.most is None or self.most >= self.tasks

    @property
    def least_total(self) -> tuple[int, ...]:
        if self.tasks is None:
            return tuple(each * (self.nodes or 0) for each in self.each)
        once = self.per_node or (0,) * len(self.each)
        return tuple(each * self.tasks + more for each, more in zip(self.each, once, strict=True))

    def amounts(self, tasks: int) -> tuple[int, ...]:
        """Return the amounts of all resources that `tasks` tasks of the job take on one node.

        >>> Request((2, 30), tasks=8, per_node=(0, 100)).amounts(3)
        (6, 190)
        """
        once = self.per_node or (0,) * len(self.each)
        return tuple(each * tasks + more for each, more in zip(self.each, once, strict=True))

    def written(self, kinds: Sequence[str]) -> str:
        """Return the request as text; `kinds` are the names of the resources."""
        unit = count(self.nodes or 0, "node") if self.tasks is None else count(self.tasks, "task")
        text = f"{unit} of {in_amounts(kinds, self.each)}"
        if any(self.per_node):
            text += f", with {in_amounts(kinds, self.per_node)} once on each node"
        if self.tasks is not None and self.most is not None and self.most < self.tasks:
            text += f" on at most {count(self.most, 'node')}"
        return text + (", exclusive" if self.is_exclusive else "")


def in_amounts(kinds: Sequence[str], amounts: Sequence[int]) -> str:
    """Return amounts of resources as text; an amount of 0 is left out. `kinds` are the names of the resources."""
    told = []
    for kind, (name, amount) in enumerate(zip(kinds, amounts, strict=True)):
        if amount:
            one = "GPU" if name == "gpu" else shortened(printable(name.removesuffix("s")), 20)
            told.append(f"{amount:,} MB" if kind == 1 else count(amount, one))
    return listed(told)


@dataclass(frozen=True)
class Shape(Ranked, Reserved):
    """Nodes of a machine in a fixed order, its partitions (`groups`), and what each job requests, by rank."""

    nodes: tuple[ComputeNode, ...]
    groups: tuple[NodeGroup, ...] = ()
    requests: tuple[Request, ...] = ()
    placement: NodePlacement = "best"
    ran: tuple[Seats | None, ...] = ()
    """For each job: its recorded nodes and amounts, None if unknown; empty if the trace does not record nodes."""
    limits: tuple[LimitRule, ...] = ()
    """Limits that the machine's file sets for users, accounts and qualities of service."""
    reservations: tuple[NodeReservation, ...] = ()
    qos: tuple[tuple[str, int], ...] = ()
    is_platform: bool = False
    """True if the nodes are the hosts of a platform of Batsim, whose jobs ask for whole hosts."""
    accounts: tuple[ShareEntry, ...] = ()
    """Accounts and users with their shares and past usage, for fair share."""
    gone: tuple[str, ...] = ()
    """Names of the nodes that the machine's file calls down or drained; they take jobs as the others do."""

    def __repr__(self) -> str:
        return f"<Shape {len(self.nodes):,} nodes, {self.cores:,} cores>"

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of the resources, in the order in which arrays of amounts have them."""
        return ("cores", "memory", *sorted({name for node in self.nodes for name, _ in node.others}))

    @cached_property
    def has(self) -> Amounts:
        """Return the amount of each resource that each node has when it is empty, with a row for each node."""
        rows = [
            [node.cores, node.memory, *(dict(node.others).get(k, 0) for k in self.kinds[2:])] for node in self.nodes
        ]
        return np.array(rows, dtype=np.int64).reshape(len(self.nodes), len(self.kinds))

    @cached_property
    def numbered_requests(self) -> tuple[tuple[Request, ...], NDArray[np.int32]]:
        """Return the different requests, and for each job, by rank, the index of its request among them."""
        ids, object_of = numbered(map(id, self.requests))  # many jobs share one object, and hashing takes long
        by_id = {id(request): request for request in self.requests}
        different, number = numbered(by_id[one] for one in ids)
        return different, number[object_of]

    @cached_property
    def first_core(self) -> tuple[int, ...]:
        """Return the number of each node's first core; the last entry is the number of all cores."""
        return tuple(np.concatenate([[0], np.cumsum(self.has[:, 0])]).tolist())

    @property
    def cores(self) -> int:
        return self.first_core[-1]

    def placed(self, placement: str) -> Shape:
        """Return the shape with this rule; `lowest`, the command line's default, keeps that of the machine's file."""
        if placement == "lowest":
            return self
        if placement not in NODE_PLACEMENTS:
            raise ParameterError(f"no placement {placement} on nodes; there are {', '.join(NODE_PLACEMENTS)}")
        return replace(self, placement=cast(NodePlacement, placement))

    def take(self, index: Iterable[int]) -> Shape:
        jobs = list(index)
        ran = tuple(self.ran[i] for i in jobs) if self.ran else ()
        return replace(self, requests=tuple(self.requests[i] for i in jobs), ran=ran)

    def timed(self, estimates: Iterable[float]) -> Shape:
        if all(group.most_time is None for group in self.groups):
            return self
        return replace(self, requests=tuple(map(self.within_limits, self.requests, estimates)))

    def nodes_of(self, cores: int) -> tuple[int, ...]:
        firsts = self.first_core
        return tuple(n for n in range(len(self.nodes)) if cores >> firsts[n] & ((1 << (firsts[n + 1] - firsts[n])) - 1))

    def asked(self, request: Request) -> str:
        """Return the request as text, with the features and the partitions that it names."""
        text = request.written(self.kinds)
        if request.features:
            text += f" with {listed(shortened(printable(name), 20) for name in sorted(request.features))}"
        if request.groups:
            names = listed(shortened(printable(self.groups[number].name), 20) for number in request.groups)
            text += f", {'partition' if len(request.groups) == 1 else 'partitions'} {names}"
        return text

    # Where a request fits

    def seat(self, request: Request, free: Amounts) -> Seats | None:
        """Return the nodes and amounts that a request gets when `free` is free on them; None if it does not fit."""
        if not request.groups:
            return self._seat(request, free, self.allowed(request.features, None), request.is_exclusive)
        for number in request.groups:
            group = self.groups[number]
            whole = request.is_exclusive or group.is_exclusive
            seats = self._seat(request, free, self.allowed(request.features, number), whole)
            if seats is not None and (group.most_nodes is None or len(seats.nodes) <= group.most_nodes):
                return seats
        return None

    def fits(self, request: Request, free: Amounts) -> bool:
        """Return True if a request fits in `free`; nodes are chosen, which is slow, only if counting cannot tell."""
        if not self.counts(request):
            return self.seat(request, free) is not None
        return any(bool(_has_places(request, room)) for room in self._rooms(request, free))

    def fits_from(self, request: Request, steps: Amounts) -> int:
        """Return the first step from which on the request, which `counts`, fits in all together; else their number."""
        fits = np.zeros(len(steps), np.bool_)
        for room in self._rooms(request, steps):
            fits |= _has_places(request, np.minimum.accumulate(room[::-1]))
        return len(steps) - int(np.count_nonzero(fits))

    def counts(self, request: Request) -> bool:
        """Return True if the number of places on the nodes decides whether the request fits."""
        by_places = request.tasks is None or (request.least <= 1 and request.more_always_fits)
        return by_places and not (request.groups and self.limits_nodes(request))

    def limits_nodes(self, request: Request) -> bool:
        return any(self.groups[number].most_nodes is not None for number in request.groups)

    def _rooms(self, request: Request, free: Amounts) -> Iterator[Amounts]:
        for number in request.groups or (None,):
            whole = request.is_exclusive or (number is not None and self.groups[number].is_exclusive)
            yield self._free_room(request, free, self.allowed(request.features, number), whole)

    def _free_room(self, request: Request, free: Amounts, allowed: Kept | None, whole: bool) -> Amounts:
        room = self.room(request, free)
        if allowed is not None:
            room = np.where(allowed, room, 0)
        return np.where((free == self.has).all(axis=-1), room, 0) if whole else room

    def _seat(self, request: Request, free: Amounts, allowed: Kept | None, whole: bool) -> Seats | None:
        room = self._free_room(request, free, allowed, whole)
        if not _has_places(request, room):
            return None
        if self.placement == "consecutive":
            return self._seat_in_runs(request, room, whole)
        (able,) = (room > 0).nonzero()
        sign = NODE_PLACEMENTS[self.placement]
        if sign:
            able = able[(sign * free[able, 0]).argsort(kind="stable")]
        if request.tasks is None:
            counts: NDArray[np.int64] | None = np.ones(request.nodes or 0, np.int64)
        else:
            counts = in_order(room[able], request.tasks, request.least, request.most or len(able))
        return None if counts is None else self._seats(request, able[: len(counts)], counts, whole)

    def _seat_in_runs(self, request: Request, room: Amounts, whole: bool) -> Seats | None:
        if request.tasks is None:
            many = request.nodes or 0
            chosen = consecutive(np.minimum(room, 1).tolist(), many, many, many)
        else:
            chosen = consecutive(room.tolist(), request.tasks, request.least, request.most or len(room))
        nodes, counts = np.array(chosen or (), np.int64).reshape(-1, 2).T
        return None if chosen is None else self._seats(request, nodes, counts, whole)

    def _seats(self, request: Request, nodes: NDArray[np.int64], counts: NDArray[np.int64], whole: bool) -> Seats:
        """Return what the request gets on these nodes, on each of them as many tasks as in `counts`."""
        order = nodes.argsort()
        nodes, counts = nodes[order], counts[order]
        if whole:
            return Seats.of(nodes, self.has[nodes])
        amounts = counts[:, None] * np.array(request.each)
        return Seats.of(nodes, amounts + np.array(request.per_node) if request.per_node else amounts)

    @staticmethod
    def room(request: Request, free: Amounts) -> Amounts:
        """Return how many tasks (or shares of a node) fit on each node; for several steps if `free` has them."""
        room: Amounts | None = None
        for kind, amount in enumerate(request.each):
            once = request.per_node[kind] if request.per_node else 0
            if not amount and not once:
                continue
            left = free[..., kind] - once if once else free[..., kind]
            fit = left // amount if amount > 1 else left if amount else (left >= 0) * np.int64(request.tasks or 1)
            room = fit if room is None else np.minimum(room, fit)
        if room is None:
            return np.full(free.shape[:-1], request.tasks or 1, dtype=np.int64)
        return room

    def allowed(self, features: frozenset[str], group: int | None) -> Kept | None:
        """Return, for each node, True if it has these features and is in this partition; None if all nodes qualify."""
        if not features and group is None:
            return None
        known = self._masks.get((features, group))
        if known is None:
            if group is None and len(features) == 1:
                known = np.array([features <= node.features for node in self.nodes])
            elif group is not None and not features:
                known = np.isin(np.arange(len(self.nodes)), [*self.groups[group].nodes])
            else:
                parts = (self.allowed(frozenset((feature,)), None) for feature in features)
                masks = [mask for mask in (*parts, self.allowed(frozenset(), group)) if mask is not None]
                known = np.logical_and.reduce(masks)
            self._masks[features, group] = known
        return known

    @cached_property
    def _masks(self) -> dict[tuple[frozenset[str], int | None], Kept]:
        return {}

    def bars(self, request: Request, free: Amounts) -> NDArray[np.int8]:
        """Return for each node the index in `BARS` of why a task (or share of a node) does not fit; else `OPEN`."""
        first = np.full(len(free), OPEN, np.int8)
        for kind, amount in reversed([*enumerate(request.amounts(1))]):  # the first cause replaces those after it
            if amount:
                first[free[:, kind] < amount] = min(kind, BARS.index("gpus"))
        found = np.full(len(free), BARS.index("place"), np.int8)
        for number in request.groups or (None,):
            allowed = self.allowed(request.features, number)
            open_to = np.ones(len(free), np.bool_) if allowed is None else allowed.copy()
            if request.is_exclusive or (number is not None and self.groups[number].is_exclusive):
                open_to &= (free == self.has).all(axis=1)
            found[open_to] = first[open_to]
        return found

    def fault(self, request: Request, seats: Seats) -> str:
        """Return text on what is wrong with `seats`: too little, too much or not allowed; "" if nothing is."""
        groups = [self.groups[n] for n in request.groups if self.groups[n].nodes.issuperset(seats.nodes)]
        if request.groups and not groups:
            return "a job is on nodes outside its partitions"
        own = request.admitted.within
        if own >= 0 and not self.reservations[own].nodes.issuperset(seats.nodes):
            return "a job is on nodes outside its reservation"
        if any(not request.features <= self.nodes[node].features for node in seats.nodes):
            return "a job is on a node without its features"
        may_share = not request.is_exclusive and (not groups or not all(group.is_exclusive for group in groups))
        may_be_whole = request.is_exclusive or any(group.is_exclusive for group in groups)
        is_whole = may_be_whole and bool((self.has[list(seats.nodes)] == seats.amounts).all())
        if not may_share and not is_whole:
            return "an exclusive job does not hold all of its nodes"
        if request.nodes is not None and len(seats.nodes) != request.nodes:
            return "a job has more or fewer nodes than it asked for"
        if not is_whole and sum(amounts[0] for amounts in seats.amounts) != request.cores:
            return "a job holds more or fewer cores than it asked for"
        if not request.least <= len(seats.nodes) <= (request.most or len(self.nodes)) and request.tasks is not None:
            return "a job is on more or fewer nodes than it allows"
        return ""

    # Why a job can never start

    def why_never(self, request: Request, estimate: float) -> str:
        """Return text on why the empty machine or its time limits can never meet the request; "" if they can."""
        allowed = self.within_limits(request, estimate)
        if request.groups and not allowed.groups:
            return "longer than its partition allows"
        has, own = self.has, request.admitted.within
        if own >= 0:
            has = has.copy()
            has[[node for node in range(len(has)) if node not in self.reservations[own].nodes]] = 0
        if self.seat(allowed, has) is not None:
            return ""
        return f"never fits the machine: {self._missing(request)}"

    def misfits(self, estimates: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
        """Return each reason why jobs can never start on this machine -> True for the jobs concerned."""
        found: dict[str, NDArray[np.bool_]] = {}
        known: dict[tuple[Request, float], str] = {}
        for at, (request, estimate) in enumerate(zip(self.requests, estimates.tolist(), strict=True)):
            asked = (request, estimate if request.groups else 0)
            if asked not in known:
                known[asked] = self.why_never(*asked)
            if why := known[asked]:
                found.setdefault(why, np.zeros(len(self.requests), dtype=np.bool_))[at] = True
        return found

    def within_limits(self, request: Request, estimate: float) -> Request:
        limits = ((number, self.groups[number].most_time) for number in request.groups)
        groups = tuple(number for number, most in limits if most is None or estimate <= most)
        return request if groups == request.groups else replace(request, groups=groups)

    def _missing(self, request: Request) -> str:
        """Return text on what the empty machine, or only its partitions, lacks: a resource, features, or nodes."""
        masks = [self.allowed(frozenset(), number) for number in request.groups]
        of_its = np.logical_or.reduce([mask for mask in masks if mask is not None]) if masks else None
        for has, where in ((self.has, ""), (self.has[of_its] if of_its is not None else None, " of its partition")):
            for kind, (amount, name) in enumerate(zip(request.amounts(1), self.kinds, strict=True)):
                if has is not None and amount > has[:, kind].max(initial=0):
                    return f"no node{where} has enough {'GPUs' if name == 'gpu' else name}"
        if request.features and not any(request.features <= node.features for node in self.nodes):
            return "no node has its features"
        limits = [self.groups[number].most_nodes for number in request.groups]
        if limits and all(most is not None and most < (request.nodes or request.least) for most in limits):
            return "more nodes than its partition allows"
        return "too few nodes have enough together"


def _has_places(request: Request, room: Amounts) -> NDArray[np.bool_]:
    """Return True if `room` on the nodes has the places that the request needs; by steps if it has several."""
    if request.tasks is None:
        return np.asarray(np.add.reduce(room > 0, axis=-1, dtype=np.int64) >= (request.nodes or 0))
    return np.asarray(np.add.reduce(np.maximum(room, 0), axis=-1) >= request.tasks)


# Placing.


def in_order(room: NDArray[np.int64], tasks: int, least: int, most: int) -> NDArray[np.int64] | None:
    """Return the tasks on each node, or None if not all fit. The job takes `least` to `most` nodes; `room` has the
    tasks, at least 1, that fit on each node, in the order in which nodes are filled.

    >>> in_order(np.array([4, 4, 4]), 5, least=3, most=3)
    array([3, 1, 1])
    """
    counts: NDArray[np.int64] = np.minimum(room[:most].cumsum(), tasks)
    if least > 1:  # each further node must get a task
        counts = np.minimum(counts, tasks - np.maximum(least - 1 - np.arange(len(counts)), 0))
    if not len(counts) or counts[-1] < tasks:
        return None
    counts = counts[: int(counts.searchsorted(tasks)) + 1]
    counts[1:] -= counts[:-1].copy()
    return counts


def consecutive(room: Sequence[int], tasks: int, least: int, most: int) -> list[tuple[int, int]] | None:
    """Return (node, tasks) for each node that a job gets, or None; it takes `least` to `most` nodes, of which each has
    `room`.

    Neighbouring nodes with room are a run. The smallest run with room for the whole job is taken, or else the largest
    one, and then others for what is left. If single nodes of the run have room for all of it, the job gets the node
    with the least room among these. Otherwise it fills the nodes of the run in order. If `most` nodes are too few this
    way, nodes with little room are left out, and all begins anew.

    >>> consecutive([1, 2, 0, 4, 3], 2, 1, 5), consecutive([1, 2, 0, 4, 3], 3, 1, 5), consecutive([1, 2, 0, 2], 5, 1, 5)
    ([(1, 2)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (3, 2)])
    """
    most = min(most, max(tasks, least))
    left = [max(have, 0) for have in room]
    for little in range(max(left, default=0)):
        if little:
            for node, have in enumerate(left):
                if have == little and sum(map(bool, left)) > least:
                    left[node] = 0
        found = _chosen(left, tasks, least, most)
        if found is not None:
            return sorted(found)
    return None


def _chosen(room: Sequence[int], tasks: int, least: int, most: int) -> list[tuple[int, int]] | None:
    filled = groupby(enumerate(room), key=lambda each: each[1] > 0)
    runs = [list(run) for has_room, run in filled if has_room]
    chosen: list[tuple[int, int]] = []
    while runs and len(chosen) < most:
        run = _best(runs, tasks, least - len(chosen))
        runs.remove(run)
        if least - len(chosen) <= 1 and (able := [each for each in run if each[1] >= tasks]):
            run = [min(able, key=lambda each: each[1])]
        for node, have in run:
            if len(chosen) == most or (tasks <= 0 and len(chosen) >= least):
                break
            if len(chosen) == most - 1 and have < tasks:
                continue
            count = max(min(have, tasks - max(least - len(chosen) - 1, 0)), 1)  # each further node must get a task
            chosen.append((node, count))
            tasks -= count
        if tasks <= 0 and len(chosen) >= least:
            return chosen
    return None


def _best(runs: Sequence[list[tuple[int, int]]], tasks: int, least: int) -> list[tuple[int, int]]:
    def fit(run: list[tuple[int, int]]) -> tuple[bool, int]:
        has = sum(have for _, have in run)
        enough = has >= tasks and len(run) >= least
        return not enough, has if enough else -has

    return min(runs, key=fit)
