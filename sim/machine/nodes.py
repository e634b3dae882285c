"""Machine of nodes: it knows which resources of which nodes each job holds. It corresponds to `Machine`, which has
equal processors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.machine.moment import MOMENT
from sim.machine.processors import Key, Machine, lowest
from sim.support.errors import DecisionError
from sim.workload.model import Job
from sim.workload.shape import Amounts, Request, Seats, Shape
from sim.workload.shortage import Shortage, room_for, shortage


class NodeMachine(Machine):
    """Machine of nodes, whose cores are numbered one node after another; a running job holds cores, memory and other
    resources of one or more nodes.
    """

    has_nodes = True

    def __init__(
        self, shape: Shape, requests: Sequence[Request], lasts: Sequence[float] = (), accounts: Sequence[str] = ()
    ) -> None:
        super().__init__(shape.cores, accounts=accounts)
        self.shape, self.requests = shape, requests
        self.lasts, self.now = lasts, 0.0
        """Estimates of the jobs in seconds (`lasts`), indexed by rank; the present time. Both matter only if nodes are
        reserved
        """
        self.confined = shape.confined
        self.left: Amounts = shape.has.copy()
        """For each node: the amounts of its resources that are free"""
        self.seats: dict[int, Seats] = {}
        """For each running job, by rank: the nodes and amounts that it holds"""
        self.tiers, self.factors, self.qos_factors = shape.tiers, shape.factors, shape.qos_factors
        self.node_parts = shape.node_parts
        self._suit: dict[Request, tuple[int, ...]] = {}
        self.asked: dict[Request, Any] = {}
        """Memory of plans for what they ask of each request again and again"""
        self.promised: dict[int, tuple[float, Seats]] = {}
        """For each job with a reservation, by rank: (reserved start, nodes and amounts reserved for it)"""

    def copy(self) -> NodeMachine:
        twin = NodeMachine(self.shape, self.requests, self.lasts, self.accounts)
        twin.now, twin.asked = self.now, self.asked
        twin.free, twin.free_set, twin.held = self.free, self.free_set, self.held.copy()
        twin.left, twin.seats, twin.promised = self.left.copy(), self.seats.copy(), self.promised.copy()
        return twin

    def seat(self, rank: int, free: Amounts | None = None) -> Seats | None:
        """Return what the job would get if the amounts `free` were free (by default those free now), or None."""
        return self.shape.seat(self.requests[rank], self._open(rank, self.left if free is None else free))

    def _open(self, rank: int, free: Amounts) -> Amounts:
        if not self.shape.reservations:
            return free
        return self.shape.left_open(self.requests[rank].admitted, free, self.now, self.now + self.lasts[rank], self.now)

    def fits(self, job: Job) -> bool:
        return job.procs <= self.free and self.shape.fits(self.requests[job.rank], self._open(job.rank, self.left))

    def why_late(self, job: Job) -> str:
        return self.requests[job.rank].admitted.why_late(self.shape.reservations, self.now)

    def kept_from(self, job: Job) -> tuple[str, float, float, bool] | None:
        shape, request = self.shape, self.requests[job.rank]
        if not shape.reservations or self.fits(job):
            return None
        own, until = request.admitted, self.now + self.lasts[job.rank]
        if own.within >= 0:
            its = shape.reservations[own.within]
            return its.name, its.start, its.end, True
        if not shape.fits(request, self.left):
            return None
        others = (shape.reservations[n] for n in shape.concern(self.now) if n not in own.may_use)
        able = {*np.flatnonzero(room_for(shape, request, self.left)).tolist()}
        near = [each for each in others if each.keeps(self.now, until, self.now) and able & each.nodes]
        first = min(near, key=lambda each: each.start)
        return first.name, first.start, first.end, False

    def has_room(self, job: Job) -> bool:
        promised = self.promised.get(job.rank)
        return self.fits(job) if promised is None else self._is_free(promised[1])

    def kept_nodes(
        self,
        job: Job,
        now: float,
        ends: Iterable[tuple[float, int, int]],
        planned: Mapping[int, tuple[float, Seats]] | None = None,
    ) -> tuple[int, float, int, int, bool, bool] | None:
        """Return for which jobs nodes are kept on which `job` has room now, as the fields of the reason `NodesKept`,
        with a rank in place of the first job. The result is None if `job` does not fit now, or fits beside these jobs.

        They are those with a reservation or, if `planned` is given, its keys, which keep whole nodes: rank -> (start,
        nodes). Only starts before the end of `job` count. `ends` has the running jobs' (expected end, rank, ignored).
        """
        promised = self.promised if planned is None else planned
        request, until = self.requests[job.rank], now + self.lasts[job.rank]
        free = self._open(job.rank, self.left)
        near = {
            rank: plan
            for rank, plan in promised.items()
            if rank != job.rank and plan[0] < until - MOMENT and plan[1][0]
        }
        if not near or not self.shape.fits(request, free):
            return None
        least = np.minimum(free, self._least_left(near, now, ends, planned is not None))
        if self.shape.fits(request, least):
            return None
        room, beside = room_for(self.shape, request, free), room_for(self.shape, request, least)
        kept = {*np.flatnonzero(beside < room).tolist()}
        holders = {rank: len(kept.intersection(seats.nodes)) for rank, (_, seats) in near.items()}
        first = max(holders, key=lambda rank: (holders[rank], -near[rank][0]))
        is_part, is_alone = bool(beside[[*kept]].any()), holders[first] == len(kept)
        return first, near[first][0], len(kept), int((room > 0).sum()), is_part, is_alone

    def _least_left(
        self,
        near: Mapping[int, tuple[float, Seats]],
        now: float,
        ends: Iterable[tuple[float, int, int]],
        is_whole: bool,
    ) -> Amounts:
        """Return the least amounts that the plans in `near` leave free on each node at any of their starts; with
        `is_whole` they leave nothing on their nodes.
        """
        least, over = self.left.copy(), list(ends)
        if is_whole:
            least[[node for _, seats in near.values() for node in seats.nodes]] = 0
            return least
        for at in {max(start, now) for start, _ in near.values()}:
            left = self.left.copy()
            here = [(1, self.seats[rank]) for end, rank, _ in over if end <= at + MOMENT]
            for rank, (start, seats) in near.items():
                if max(start, now) - MOMENT <= at < start + self.lasts[rank] - MOMENT:
                    here.append((-1, seats))
            for sign, (nodes, amounts) in here:
                left[list(nodes)] += sign * np.array(amounts)
            least = np.minimum(least, left)
        return least

    def partitions(self, job: Job) -> tuple[int, ...]:
        request = self.requests[job.rank]
        return (-2 - request.admitted.within,) if request.admitted.within >= 0 else request.groups or (-1,)

    def open_partitions(self, job: Job, closed: Collection[int]) -> tuple[int, ...]:
        request = self.requests[job.rank]
        if request.admitted.within >= 0:
            (own,) = self.partitions(job)
            return () if own in closed else (own,)
        least = request.least if request.nodes is None else request.nodes
        shut = self._nodes_of(closed)
        return tuple(n for n in self.partitions(job) if np.count_nonzero(self._nodes_of((n,)) & ~shut) >= least)

    def once_a_partition(self, jobs: Sequence[Job], key: Key) -> list[tuple[Job, int]]:
        tiers = self.tiers
        if not self.shape.has_choice or all(len(self.requests[job.rank].groups) < 2 for job in jobs):
            return [(job, -1) for job in (sorted(jobs, key=lambda job: -tiers[job.rank]) if tiers else jobs)]
        found = list[tuple[float, float, int, Job, int]]()
        for job in jobs:
            groups = self.requests[job.rank].groups
            if len(groups) < 2 or self.partitions(job)[0] < -1:
                own = max((self.shape.groups[number].priority for number in groups), default=0)
                found.append((-tiers[job.rank] if tiers else -own, key(job, None), job.rank, job, -1))
                continue
            for number in self._suiting(self.requests[job.rank]):
                value = key(job, self.shape.parts[number])
                found.append((-self.shape.groups[number].priority, value, job.rank, job, number))
        return [(job, number) for *_, job, number in sorted(found, key=lambda each: each[:3])]

    def _suiting(self, request: Request) -> tuple[int, ...]:
        """Return those of the request's partitions whose nodes, if all of them are empty, have room for it."""
        if request not in self._suit:
            own = ((number, replace(request, groups=(number,))) for number in request.groups)
            self._suit[request] = tuple(n for n, narrow in own if self.shape.seat(narrow, self.shape.has) is not None)
        return self._suit[request]

    def seats_outside(self, job: Job, closed: Collection[int], only: int = -1) -> Seats | None:
        free = np.where(self._nodes_of(closed)[:, None], 0, self.left) if closed else self.left
        if only < 0:
            return self.seat(job.rank, free)
        return self.shape.seat(replace(self.requests[job.rank], groups=(only,)), self._open(job.rank, free))

    def _nodes_of(self, partitions: Iterable[int]) -> NDArray[np.bool_]:
        found = np.zeros(len(self.shape.nodes), np.bool_)
        for number in partitions:
            if number == -1:
                found[:] = True
            elif number >= 0:
                found[[*self.shape.groups[number].nodes]] = True
        return found

    def lack(self, job: Job) -> Shortage:
        return shortage(self.shape, self.requests[job.rank], self._open(job.rank, self.left), self.free)

    def where_it_ran(self, job: Job) -> Seats | None:
        seats = self.shape.ran[job.rank] if self.shape.ran else None
        return seats if seats is not None and self._is_free(seats) else None

    def due(self, rank: int, now: float) -> Seats | None:
        promised = self.promised.get(rank)
        return promised[1] if promised is not None and promised[0] <= now + MOMENT else None

    def seats_of(self, rank: int) -> Seats | None:
        return self.seats.get(rank)

    def promise(self, rank: int, at: float, seats: Seats | None) -> None:
        if seats is not None:
            self.promised[rank] = at, seats

    def forget_promises(self) -> None:
        self.promised.clear()

    def take(self, rank: int, count: int) -> int:
        seats = self.seat(rank)
        if seats is None:
            raise DecisionError("no nodes have room for it")
        return self._occupy(rank, seats)

    def take_exactly(self, rank: int, processors: int | Seats, count: int) -> int:
        if isinstance(processors, int):
            raise DecisionError("on a machine of nodes a policy does not choose cores")
        if not self._is_free(processors):
            raise DecisionError("its nodes have no room for it")
        return self._occupy(rank, processors)

    def give_back(self, rank: int) -> int:
        nodes, amounts = self.seats.pop(rank).columns
        self.left[nodes] += amounts
        return super().give_back(rank)

    def _is_free(self, seats: Seats) -> bool:
        nodes, amounts = seats.columns
        return bool((self.left[nodes] >= amounts).all())

    def _occupy(self, rank: int, seats: Seats) -> int:
        """Give the job the amounts in `seats` of each node, with the lowest-numbered free cores; return its cores as
        bits.
        """
        nodes, amounts_of = seats.columns
        self.left[nodes] -= amounts_of
        firsts, chosen = self.shape.first_core, 0
        for node, amounts in zip(seats.nodes, seats.amounts, strict=True):
            first, size = firsts[node], firsts[node + 1] - firsts[node]
            chosen |= lowest(self.free_set >> first & ((1 << size) - 1), amounts[0]) << first
        self.free_set ^= chosen
        self.free -= chosen.bit_count()
        self.held[rank], self.seats[rank] = chosen, seats
        self.promised.pop(rank, None)
        return chosen

    def faults(self) -> str:
        used = np.zeros_like(self.left)
        for rank, seats in self.seats.items():
            used[list(seats.nodes)] += seats.amounts
            if fault := self.shape.fault(self.requests[rank], seats):
                return fault
            if self.shape.nodes_of(self.held[rank]) != tuple(n for n, a in zip(*seats, strict=True) if a[0]):
                return "it holds cores of other nodes than it was given"
        if self.seats.keys() != self.held.keys():
            return "a job holds cores without a place on nodes"
        if (used > self.shape.has).any():
            node, kind = np.argwhere(used > self.shape.has)[0].tolist()
            return f"node {self.shape.nodes[node].name} gives away more {self.shape.kinds[kind]} than it has"
        return "" if (used + self.left == self.shape.has).all() else "the free resources of a node are counted wrongly"


class Leftover:
    """Resources of nodes that are left over at the shadow time, the time at which the first job of the queue (the head)
    can start.

    A job that would end later may pass the head if the head would still fit at the shadow time while that job runs.
    """

    def __init__(self, machine: NodeMachine, head: Job, free: Amounts) -> None:
        """Begin with `free`, the amounts that are free on each node at the shadow time before the head starts."""
        self._machine, self._head, self._free = machine, head, free

    def admits(self, job: Job) -> bool:
        seats = self._machine.seat(job.rank)
        if seats is None:
            return False
        free = self._free.copy()
        free[list(seats.nodes)] -= seats.amounts
        return self._machine.shape.fits(self._machine.requests[self._head.rank], free)

    def count(self, job: Job) -> None:
        seats = self._machine.seats[job.rank]
        self._free[list(seats.nodes)] -= seats.amounts


def shadow_on_nodes(machine: NodeMachine, ends: Iterable[tuple[float, int, int]], job: Job) -> tuple[float, Amounts]:
    """Return the earliest start of `job` if only running jobs hold resources, and the amounts that are free on each
    node at that time.

    `ends` are the running jobs' (expected end, rank, ignored), sorted. Jobs that end at that time count as ended.
    """
    shape, request = machine.shape, machine.requests[job.rank]
    free, cores, moment = machine.left.copy(), machine.free, -np.inf
    changes = [(time, -1, 0) for time in shape.changes_after(machine.now)]

    def left_open() -> Amounts:
        return shape.left_open(request.admitted, free, moment, moment + job.estimate, machine.now)

    def fits() -> bool:
        return cores >= job.procs and shape.fits(request, left_open())

    for end, rank, _ in sorted([*ends, *changes]) if changes else ends:
        if end > moment + MOMENT:
            if moment > -np.inf and fits():
                return float(moment), left_open()
            moment = end
        if rank >= 0:
            nodes, amounts = machine.seats[rank].columns
            free[nodes] += amounts
            cores += machine.held[rank].bit_count()
    if not fits():
        if request.admitted.within >= 0:
            return max(shape.reservations[request.admitted.within].end, machine.now), left_open()
        raise ValueError(f"job {job.id} never fits")
    return float(moment), left_open()
