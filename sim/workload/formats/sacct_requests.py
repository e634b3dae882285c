"""Requests in a dump of sacct: resources as Slurm writes them (TRES), and the nodes on which a job ran."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim.workload.formats.slurm_text import hosts
from sim.workload.reserved_nodes import admission
from sim.workload.shape import Request, Seats, Shape

Row = dict[str, str]
MB = {"K": 1 / 1024, "M": 1.0, "": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}
MOST = 2**40
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([KMGTP]?)([cn]?)", re.ASCII)


class AskedOfNodes:
    """Collector of what the jobs of a dump requested of the nodes of a machine, and of the nodes on which they ran."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._nodes = {node.name: at for at, node in enumerate(shape.nodes)}
        self._groups = {group.name: at for at, group in enumerate(shape.groups)}
        self._requests: list[Request] = []
        self._stays: list[NodeStay | None] = []
        self._known: dict[Request, Request] = {}
        """Requests that have been seen, mapped to themselves, so that equal requests are a single object in memory."""
        self._withdrawn: dict[int, float] = {}
        """For each job that was withdrawn before it started, by its number in `_requests`: time of that"""

    def add(
        self,
        row: Row,
        cores: int,
        start: float | None,
        run: float,
        counts: Mapping[str, int] | None = None,
        withdrawn: float | None = None,
    ) -> None:
        """Add a job; `start` is None if it has not run. `counts` maps a node's name to the job's cores there."""
        request = self._request(row, max(cores, 1), start is not None)
        if withdrawn is not None:
            self._withdrawn[len(self._requests)] = withdrawn
        self._requests.append(self._known.setdefault(request, request))
        names = set(hosts(row.get("nodelist", "")))
        if start is None or not names or not names <= self._nodes.keys():
            self._stays.append(None)
        else:
            nodes = tuple(sorted(self._nodes[name] for name in names))
            known = tuple((counts or {}).get(self._shape.nodes[node].name, 0) for node in nodes)
            is_known = sum(known) == request.cores and all(known)
            self._stays.append(NodeStay(start, start + max(run, 0.0), request.cores, nodes, known if is_known else ()))

    @property
    def shape(self) -> Shape:
        shape = self._shape
        stays = [stay for stay in self._stays if stay is not None]
        counts = iter(cores_by_node(stays, shape.has[:, 0].tolist()))
        ran = tuple(
            None if stay is None else self._seats(request, stay.nodes, next(counts))
            for stay, request in zip(self._stays, self._requests, strict=True)
        )
        return replace(shape, requests=tuple(self._requests), ran=ran)

    def shape_since(self, zero: float, name: str) -> Shape:
        """Return `shape` in the time of the trace `name`, which begins at `zero` (seconds since 1970)."""
        shape, requests = self.shape, list(self._requests)
        for at, time in self._withdrawn.items():
            requests[at] = replace(requests[at], admitted=replace(requests[at].admitted, withdrawn=time - zero))
        return replace(shape, requests=tuple(requests)).reserved_since(zero, name)

    def _seats(self, request: Request, nodes: tuple[int, ...], counts: tuple[int, ...]) -> Seats:
        if self._is_exclusive(request.groups):
            return Seats(nodes, tuple(tuple(self._shape.has[node].tolist()) for node in nodes))
        return Seats(nodes, tuple(request.amounts(count) for count in counts))

    def _request(self, row: Row, cores: int, began: bool) -> Request:
        held = resources(row.get("alloctres", "")) if began else {}
        asked = held if held.get("cpu") else resources(row.get("reqtres", ""))
        least = min(_number_or_0(row.get("reqnodes", "")) or 1, cores)
        nodes = max(_number_or_0(row.get("allocnodes", "")) if began else 0, int(asked.get("node", 0)), least)
        has_memory = self._shape.has[:, 1].any()
        memory = asked.get("mem") or of_column(row.get("reqmem", ""), cores, nodes) if has_memory else 0
        amounts = [memory, *(asked.get(kind, 0) for kind in self._shape.kinds[2:])]
        groups = self._of_names(row.get("partition", ""))
        each, once = [1], [0]
        for place, amount in enumerate(amounts):
            is_each = not place or (amount % nodes and not amount % cores)
            is_each = is_each and not self._is_exclusive(groups)
            each.append(int(amount // cores) if is_each else 0)
            once.append(0 if is_each else int(-(-amount // nodes)))
        per_node = tuple(once) if any(once) else ()
        who = row.get("reservation", ""), row.get("user", ""), row.get("account", "")
        admitted = admission(self._shape.reservations, *who, by_name="reservation" in row)
        return Request(
            tuple(each),
            tasks=cores,
            least=least,
            per_node=per_node,
            groups=self._of_names(row.get("tried", "")) or groups,
            admitted=admitted,
            qos=row.get("qos", "") if self._shape.qos else "",
        )

    def _of_names(self, names: str) -> tuple[int, ...]:
        return tuple(self._groups[name] for name in names.split(",") if name in self._groups)

    def _is_exclusive(self, groups: tuple[int, ...]) -> bool:
        return bool(groups) and all(self._shape.groups[number].is_exclusive for number in groups)


def resources(text: str) -> Mapping[str, float]:
    """Return resource -> amount, memory in MB; a resource's types are added up if their sum is not given.

    >>> resources("billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=1.5G,node=2")
    {'gpu': 2.0, 'billing': 4.0, 'cpu': 4.0, 'mem': 1536.0, 'node': 2.0}
    """
    found: dict[str, float] = {}
    typed: dict[str, float] = {}
    for part in text.split(","):
        name, _, amount = part.partition("=")
        match = _AMOUNT.fullmatch(amount)
        if match is None:
            continue
        size = min(float(match[1]) * MB[match[2]], MOST)
        kind, _, kind_type = name.removeprefix("gres/").partition(":")
        if kind_type:
            typed[kind] = typed.get(kind, 0) + size
        else:
            found[kind] = size
    return {**typed, **found} if typed else found


def of_column(text: str, cores: int, nodes: int) -> float:
    """Return the MB in the column ReqMem: for the whole job or, in old versions, per core (c) or node (n).

    >>> of_column("4000M", 4, 1), of_column("2Gc", 4, 1), of_column("1000Mn", 4, 2), of_column("", 4, 1)
    (4000.0, 8192.0, 2000.0, 0.0)
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return 0.0
    return min(float(match[1]) * MB[match[2]] * {"": 1, "c": cores, "n": nodes}[match[3]], MOST)


def _number_or_0(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


class NodeStay(NamedTuple):
    """Stay of a job from `start` until `end` on nodes, by number, with `cores` cores on all of them together."""

    start: float
    end: float
    cores: int
    nodes: tuple[int, ...]
    counts: tuple[int, ...] = ()
    """Number of the job's cores on each of the nodes; empty if unknown."""


def cores_by_node(stays: Sequence[NodeStay], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return for each stay the job's cores on each of its nodes; `sizes` has the cores of each node.

    Jobs on several nodes, in order of start, get the cores that are left. If too few are left, as suspended jobs count
    as users of theirs, a job's nodes get equal shares.

    >>> cores_by_node([NodeStay(0, 9, 3, (0,)), NodeStay(2, 5, 5, (0, 1)), NodeStay(9, 12, 5, (0, 1))], [4, 4])
    [(3,), (1, 4), (4, 1)]
    """
    found: list[tuple[int, ...]] = [stay.counts or (stay.cores,) for stay in stays]
    alone: dict[int, list[NodeStay]] = defaultdict(list)
    for stay in stays:
        if len(stay.nodes) == 1:
            alone[stay.nodes[0]].append(stay)
    use = {node: _Use(there) for node, there in alone.items()}
    shared: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for at in sorted((at for at, stay in enumerate(stays) if len(stay.nodes) != 1), key=lambda at: stays[at].start):
        start, end, cores, nodes, counts = stays[at]
        room = []
        for node in nodes:
            shared[node] = [held for held in shared[node] if held[0] > start]
            taken = sum(count for _, count in shared[node]) + (use[node].most(start, end) if node in use else 0)
            room.append(max(sizes[node] - taken, 0))
        found[at] = counts or _cores_per_node(cores, room)
        for node, count in zip(nodes, found[at], strict=True):
            shared[node].append((end, count))
    return found


def _cores_per_node(cores: int, room: list[int]) -> tuple[int, ...]:
    """Return the cores on each node: one, then as many as are free there (`room`); equal shares if too few are."""
    if sum(room) < cores or min(room, default=0) < 1 or cores < len(room):
        each, more = divmod(cores, max(len(room), 1))
        return tuple(each + (place < more) for place in range(len(room)))
    left = cores - len(room)
    counts = []
    for most in room:
        counts.append(1 + min(most - 1, left))
        left -= counts[-1] - 1
    return tuple(counts)


class _Use:
    """Number of cores of one node that are in use, as a function of time."""

    def __init__(self, stays: Sequence[NodeStay]) -> None:
        times = np.array([time for stay in stays for time in (stay.start, stay.end)])
        change = np.array([by for stay in stays for by in (stay.cores, -stay.cores)])
        order = np.lexsort((change, times))
        self._times, self._level = times[order], np.cumsum(change[order])

    def most(self, start: float, end: float) -> int:
        first = int(np.searchsorted(self._times, start, side="right"))
        last = int(np.searchsorted(self._times, end, side="left"))
        return int(self._level[max(first - 1, 0) : max(last, first)].max(initial=0))
