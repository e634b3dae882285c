"""Plan of a machine of nodes: the free resources of each node at each future time. It corresponds to `Profile`, the
plan for equal processors.

Step i of the plan holds the free amounts of every node from `_times[i]` until `_times[i + 1]`; the last step has no
end. A job fits for a duration if it fits in every step within that time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from operator import lt
from typing import NoReturn

import numpy as np

from sim.errors import DecisionError
from sim.formatting import exact_clock
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.profile import Moved
from sim.workload.model import Job
from sim.workload.shape import Amounts, Kept, Request, Seats, Shape


class NodePlan:
    """Plan of the resources of each node that running jobs and reservations leave free, at each future time."""

    __slots__ = (
        "_changes",
        "_free",
        "_has_ends",
        "_late",
        "_narrowed",
        "_requests",
        "_seats",
        "_shape",
        "_sums",
        "_times",
    )

    def __init__(self, now: float, free: Amounts, shape: Shape, requests: Sequence[Request]) -> None:
        self._times, self._free = [now], [free]
        self._sums: list[list[int] | None] = [None]
        """For each step: free amount of each resource on all nodes together; None if not known since its last change"""
        self._changes = [0]
        """For each step: how many jobs, reservations and nodes begin or end where it begins. A step without any goes,
        because jobs may start only where something begins or ends.
        """
        self._shape, self._requests = shape, requests
        self._narrowed: dict[int, Request] = {}
        """Requests of the jobs, by rank, that are planned in only one of their partitions"""
        self._seats: dict[int, Seats] = {}
        """For each job in the plan, by rank: the nodes and amounts that it gets"""
        self._late: dict[Request, dict[float, float]] = {}
        """For each request and duration in seconds: a time before which the request does not fit for that duration.
        Valid until resources become free.
        """
        self._has_ends = True
        """True if nodes that are drained now are planned for from the end of that on; False if they never are"""

    @classmethod
    def of_running(cls, now: float, machine: NodeMachine, ends: Iterable[tuple[float, int, int]]) -> NodePlan:
        """Return the plan in which only running jobs hold resources. `ends` are their (expected end, rank, ignored),
        sorted.
        """
        plan = cls(now, machine.left.copy(), machine.shape, machine.requests)
        plan._seats.update(machine.seats)
        for end, rank, _ in ends:
            if end - plan._times[-1] > MOMENT:
                plan._times.append(end)
                plan._free.append(plan._free[-1].copy())
                plan._sums.append(None)
                plan._changes.append(0)
            plan._changes[-1] += 1
            nodes, amounts = machine.seats[rank]
            plan._free[-1][list(nodes)] += amounts
        for time in machine.shape.changes_after(now):
            plan._changes[plan._edge(time)] += 1
        return plan

    def copy(self) -> NodePlan:
        twin = NodePlan(0, self._free[0], self._shape, self._requests)
        twin._times, twin._free = self._times.copy(), [free.copy() for free in self._free]
        twin._sums, twin._changes = self._sums.copy(), self._changes.copy()
        twin._seats, twin._has_ends, twin._narrowed = self._seats.copy(), self._has_ends, self._narrowed.copy()
        return twin

    def leave_out_drained(self) -> None:
        """Plan nothing more on nodes that are drained now, as if they never came back."""
        now = self._times[0]
        known = (self._shape.reservations[number] for number in self._shape.concern(now))
        self._has_ends = not any(each.is_drain and each.keeps(now, inf, now) for each in known)

    def __eq__(self, other: object) -> bool:
        """Return True if both plans have the same free amounts at all times."""
        if not isinstance(other, NodePlan):
            return False
        mine, its = self._merged(), other._merged()
        return len(mine) == len(its) and all(
            abs(time - then) <= 2 * MOMENT and np.array_equal(free, left)
            for (time, free), (then, left) in zip(mine, its, strict=True)
        )

    def _merged(self) -> list[tuple[float, Amounts]]:
        steps = list(zip(self._times, self._free, strict=True))
        return [step for at, step in enumerate(steps) if not at or not np.array_equal(step[1], steps[at - 1][1])]

    def steps(self) -> Iterator[tuple[float, int]]:
        """Yield (time, number of free cores of all nodes) for each step of the plan; the number holds from this time to
        the next.
        """
        return ((time, int(free[:, 0].sum())) for time, free in zip(self._times, self._free, strict=True))

    @property
    def free_now(self) -> int:
        """Return the total number of cores that are free at the beginning of the plan."""
        return int(self._free[0][:, 0].sum())

    def shortage(self) -> float | None:
        """Return the first time at which the jobs in the plan need more of a node's resources than the node has; None
        if there is no such time.
        """
        return next((time for time, free in zip(self._times, self._free, strict=True) if (free < 0).any()), None)

    def advance(self, now: float) -> None:
        """Remove the steps that lie before `now`, because this time has passed."""
        index = bisect_right(self._times, now + MOMENT) - 1
        if index > 0:
            del self._times[:index], self._free[:index], self._sums[:index], self._changes[:index]
        self._times[0] = now

    # Questions and changes, by job

    def find(self, job: Job, after: float, lasts: float | None = None, until: float = inf) -> float:
        """Return the earliest start from `after` on at which the job fits for `lasts` seconds (by default for its
        estimate).

        Starts other than `after` are tried only at times when the plan changes. All nodes together may have too little
        in a step within the duration; then no start up to that step is tried. The start is inf if the job would end
        after `until`, or if it needs nodes that `leave_out_drained` left out.
        """
        times, free, request = self._times, self._free, self.request_of(job)
        lasts = job.estimate if lasts is None else lasts
        fits, grows, is_first = self._shape.fits, request.more_always_fits, after <= times[0] + MOMENT
        late = self._late.setdefault(request, {}) if grows and not self._shape.limits_nodes(request) else {}
        after = max((start for shorter, start in late.items() if shorter <= lasts and start > after), default=after)
        needs, index, enough = request.least_total, bisect_right(times, after + MOMENT) - 1, 0
        while index < len(times):
            start = max(times[index], after)
            if start + lasts - MOMENT > until:
                return inf
            last = max(bisect_left(times, start + lasts - MOMENT), index + 1)
            enough = self._has_until(needs, max(index, enough), last)
            if enough < last:
                index = enough + 1
                continue
            if grows and not fits(request, free[index]):
                index += 1
                continue
            if fits(request, self._open(request, index, start, start + lasts)):
                if is_first:
                    late[lasts] = start
                return start
            index += 1
        if request.admitted.within >= 0:  # too late for its reservation, at whose end the job is cancelled
            return max(self._shape.reservations[request.admitted.within].end, after)
        if not self._has_ends:
            return inf
        raise ValueError(f"job {job.id} never fits")

    def narrow(self, job: Job, only: int) -> None:
        """Plan the job in the partition `only` from now on; -1 for all partitions that it may use."""
        self._narrowed.pop(job.rank, None)
        if only >= 0:
            self._narrowed[job.rank] = replace(self._requests[job.rank], groups=(only,))

    def request_of(self, job: Job) -> Request:
        """Return the job's request, with the one partition in which it is planned if `narrow` chose one."""
        return self._narrowed.get(job.rank) or self._requests[job.rank]

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def amounts(self) -> list[tuple[float, Amounts]]:
        """Return (time, free amounts of the nodes) for each step of the plan."""
        return list(zip(self._times, self._free, strict=True))

    def open_to(self, request: Request, start: float, end: float) -> tuple[Kept, float | None]:
        """Return the nodes that partitions, features and reservations open to the request from `start` to `end` (True
        for each of them). Also return the first end of a reservation after `start` if one closes nodes then, or None.
        """
        masks = [self._shape.allowed(request.features, group) for group in request.groups or (None,)]
        nodes = np.ones(len(self._shape.nodes), np.bool_)
        if all(mask is not None for mask in masks):
            nodes = np.logical_or.reduce([mask for mask in masks if mask is not None])
        return self._shape.open_nodes(request.admitted, nodes, start, end, self._times[0], self._has_ends)

    def admits(self, job: Job, start: float, lasts: float) -> bool:
        """Return True if the job fits on the nodes from `start` on for `lasts` seconds."""
        request = self.request_of(job)
        return self._shape.fits(request, self._open(request, self._step_at(start), start, start + lasts))

    def hold(self, job: Job, start: float, end: float, on: Seats | None = None) -> Seats | None:
        """Occupy the job's resources in the plan from `start` until `end`; return the nodes and amounts.

        They are taken from `on` or, if that is None, from nodes that the placement rule chooses.
        """
        if on is None:
            request = self.request_of(job)
            on = self._shape.seat(request, self._open(request, self._step_at(start), start, end))
            if on is None and request.admitted.within >= 0:
                on = Seats((), ())
            if on is None:
                raise DecisionError(f"job {job.id} does not fit the plan of nodes at {exact_clock(start)}")
        self._seats[job.rank] = on
        self._change(start, end, on, -1)
        return on

    def let_go(self, job: Job, start: float, end: float) -> None:
        """Free the resources that `hold` occupied for this job from `start` until `end`."""
        self._late.clear()
        self._change(start, end, self._seats.pop(job.rank), 1)

    def put(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Reserve the job's resources at the earliest possible start from `after` on, for `lasts` seconds (its estimate
        by default); return the start.
        """
        lasts = job.estimate if lasts is None else lasts
        start = self.find(job, after, lasts)
        self.hold(job, start, start + lasts)
        return start

    def seats_of(self, job: Job) -> Seats | None:
        """Return the nodes and amounts that the plan gives to the job; None if the job is not in the plan."""
        return self._seats.get(job.rank)

    def compression(self, now: float, jobs: Iterable[Job], reserved: Mapping[int, float]) -> Iterator[Moved]:
        """Yield (job, reserved start, earlier start) for each reservation that can move to an earlier start.

        The caller must move the reservation in the plan before it asks for the next one. A reservation that cannot move
        keeps its nodes. Its own resources count as free in the search. That changes nothing if the job does not fit
        just before its start: then the job would have to end before.
        """
        for job in jobs:
            start, seats = reserved[job.rank], self._seats[job.rank]
            if start <= now + MOMENT:
                continue
            before, request = bisect_left(self._times, start - MOMENT) - 1, self.request_of(job)
            grows = request.more_always_fits and request.least <= 1 and not self._shape.limits_nodes(request)
            if self._has_until(request.least_total, before, before + 1) == before or (
                grows and not self._shape.fits(request, self._free[before])
            ):
                at = self.find(job, now, until=self._times[before])
            else:
                self.let_go(job, start, start + job.estimate)
                at = self.find(job, now)
                self.hold(job, start, start + job.estimate, seats)
            if at < start - MOMENT:
                yield job, start, at

    def _has_until(self, needs: Sequence[int], first: int, last: int) -> int:
        """Return the index of the first step, from `first` to before `last`, in which all nodes together have less than
        `needs` of a resource; `last` if there is none.
        """
        sums = self._sums
        for index in range(first, last):
            has = sums[index]
            if has is None:
                has = sums[index] = np.maximum(self._free[index], 0).sum(axis=0).tolist()
            if any(map(lt, has, needs)):
                return index
        return last

    def _step_at(self, time: float) -> int:
        return max(bisect_right(self._times, time + MOMENT) - 1, 0)

    def _worst(self, first: int, end: float) -> Amounts:
        """Return, for each node, the amounts that are free at all times from the step with index `first` until the time
        `end`.
        """
        last = max(bisect_left(self._times, end - MOMENT), first + 1)
        return self._free[first] if last == first + 1 else np.minimum.reduce(self._free[first:last])

    def _open(self, request: Request, first: int, start: float, end: float) -> Amounts:
        """Return, for each node, the amounts that are free from the step with index `first` until `end`. They are 0 on
        nodes that reservations keep from a job starting at `start`.
        """
        return self._shape.left_open(
            request.admitted, self._worst(first, end), start, end, self._times[0], self._has_ends
        )

    def _change(self, start: float, end: float, seats: Seats, sign: int) -> None:
        if end - start <= MOMENT or not seats.nodes:
            return
        nodes, amounts = np.array(seats.nodes), sign * np.array(seats.amounts)
        first, last = self._edge(start), self._edge(end)
        for index in range(first, last):
            self._free[index][nodes] += amounts
            self._sums[index] = None
        for index in (last, first):
            self._changes[index] -= sign
            if index and self._changes[index] <= 0 and np.array_equal(self._free[index], self._free[index - 1]):
                del self._times[index], self._free[index], self._sums[index], self._changes[index]

    def _edge(self, time: float) -> int:
        """Return the index of the step that begins at `time`; if there is none, split the step that contains `time` to
        make one.
        """
        index = bisect_left(self._times, time - MOMENT)
        if index == len(self._times) or self._times[index] > time + MOMENT:
            if not index:
                raise ValueError(f"{time} is before the plan's present {self._times[0]}")
            self._times.insert(index, time)
            self._free.insert(index, self._free[index - 1].copy())
            self._sums.insert(index, self._sums[index - 1])
            self._changes.insert(index, 0)
        return index

    # Numbers of processors, which nodes cannot answer

    def _refuse(self) -> NoReturn:
        raise DecisionError(
            "a plan of nodes is asked by job: plan.find(job, after), plan.put(job, after), plan.hold(job, start, end)"
        )

    def earliest(self, procs: int, duration: float, after: float) -> float:
        self._refuse()

    def place(self, procs: int, duration: float, after: float) -> float:
        self._refuse()

    def fits(self, procs: int, start: float, duration: float) -> bool:
        self._refuse()

    def least(self, start: float, end: float) -> int:
        self._refuse()

    def take(self, start: float, end: float, procs: int) -> None:
        self._refuse()


def shadow_on_nodes(machine: NodeMachine, ends: Iterable[tuple[float, int, int]], job: Job) -> tuple[float, Amounts]:
    """Return the earliest start of `job` if only running jobs hold resources, and the amounts that are free on each
    node at that time.

    `ends` are the running jobs' (expected end, rank, ignored), sorted. Jobs that end at that time count as ended.
    """
    shape, request = machine.shape, machine.requests[job.rank]
    free, moment, fits = machine.left.copy(), -np.inf, shape.fits
    changes = [(time, -1, 0) for time in shape.changes_after(machine.now)]

    def left_open() -> Amounts:
        return shape.left_open(request.admitted, free, moment, moment + job.estimate, machine.now)

    for end, rank, _ in sorted([*ends, *changes]) if changes else ends:
        if end > moment + MOMENT:
            if moment > -np.inf and fits(request, left_open()):
                return float(moment), left_open()
            moment = end
        if rank >= 0:
            nodes, amounts = machine.seats[rank]
            free[list(nodes)] += amounts
    if not fits(request, left_open()):
        if request.admitted.within >= 0:
            return max(shape.reservations[request.admitted.within].end, machine.now), left_open()
        raise ValueError(f"job {job.id} never fits")
    return float(moment), left_open()
