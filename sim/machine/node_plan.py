"""Plan of a machine of nodes: the free resources of each node at each future time. It corresponds to `Profile`, the
plan for equal processors.

Step i of the plan holds the free amounts of every node from `_times[i]` until `_times[i + 1]`; the last step has no
end. A job fits for a duration if it fits in every step within that time.

A search looks at many steps at once. It passes over steps in which all nodes together have too little, and over those
from which on the nodes that stay free are too few.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple, NoReturn

import numpy as np

from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.rows import Rows
from sim.machine.trials import Trials
from sim.support.errors import DecisionError
from sim.support.formatting import exact_clock
from sim.workload.model import Job
from sim.workload.shape import Amounts, Kept, Request, Seats, Shape


class Asked(NamedTuple):
    """Request of a job, with what a search asks of it again and again."""

    request: Request
    needs: Amounts
    """Least amount of each resource that all nodes together need to have free."""
    counts: bool
    """True if the number of places on the nodes decides whether the request fits."""
    grows: bool
    """True if the request, once it fits, also fits whenever more is free."""
    is_steady: bool
    """True if the job can only get an earlier start when resources become free."""


class Barrier(NamedTuple):
    """Steps in which a job does not fit together. So it cannot start up to `first` if it is not over by `last`."""

    first: float
    last: float
    """Times at which the first and the last of these steps begin."""
    end: float


class Held(NamedTuple):
    """Resources that a job holds in the plan until `end`, also as a row of the plan."""

    seats: Seats
    row: Amounts
    end: float


class Found(NamedTuple):
    """Result of the last search: the job's rank, when it starts and ends, and what is free on each node until then."""

    rank: int
    start: float
    end: float
    free: Amounts
    is_first: bool
    """True if the job has no earlier start, and gets none until resources become free."""
    barrier: Barrier | None


class NodePlan:
    """Plan of the resources of each node that running jobs and reservations leave free, at each future time."""

    def __init__(self, now: float, free: Amounts, shape: Shape, requests: Sequence[Request]) -> None:
        self._times = [now]
        self._rows = Rows(np.concatenate((free, free.sum(axis=0, keepdims=True))).T[None].copy())
        """For each step: free amounts by kind of resource and node; the last column has the sums of all nodes"""
        self._is_short = False
        """True if a node may lack resources, because jobs were given to it that it has no room for"""
        self._changes = [0]
        """For each step: how many jobs, reservations and nodes begin or end where it begins. A step without any goes,
        because jobs may start only where something begins or ends.
        """
        self._shape, self._requests = shape, requests
        self._known: dict[Request, Asked] = {}
        self._narrowed: dict[int, Request] = {}
        """Requests of the jobs, by rank, that are planned in only one of their partitions"""
        self._seats: dict[int, Held] = {}
        """For each job in the plan, by rank: what it holds"""
        self._most_seats = 64
        """Largest number of jobs in `_seats`, beyond which the ended ones are removed"""
        self._late: dict[Request, dict[float, float]] = {}
        """For each request and duration in seconds: a time before which the request does not fit for that duration.
        Valid until resources become free.
        """
        self._tight: dict[int, float] = {}
        """For each planned job, by rank, that had no earlier start when it was last tried: the latest time until which
        resources have become free since then. If it can start earlier now, it can only do so before this time.
        """
        self._barriers: dict[int, Barrier] = {}
        """For planned jobs, by rank: the last barrier that kept each from an earlier start"""
        self._doubted: set[int] = set()
        """Ranks of the jobs at whose barriers resources have become free since then"""
        self._barrier: Barrier | None = None
        """Last barrier that the last search met, if any"""
        self._found: Found | None = None
        """Result of the last search, if it still holds"""
        self._has_ends = True
        """True if nodes that are drained now are planned for from the end of that on; False if they never are"""

    @classmethod
    def of_running(cls, now: float, machine: NodeMachine, ends: Iterable[tuple[float, int, int]]) -> NodePlan:
        """Return the plan with running jobs only; `ends` are their (expected end, rank, ignored), sorted."""
        plan = cls(now, machine.left, machine.shape, machine.requests)
        plan._known = machine.asked
        for end, rank, _ in ends:
            if end - plan._times[-1] > MOMENT:
                plan._rows.repeat(len(plan._times))
                plan._times.append(end)
                plan._changes.append(0)
            plan._changes[-1] += 1
            plan._seats[rank] = held = plan._held(machine.seats[rank], end)
            plan._rows.live[-1] += held.row
        for time in machine.shape.changes_after(now):
            plan._changes[plan._edge(time)] += 1
        return plan

    def copy(self) -> NodePlan:
        twin = NodePlan(0, self._shape.has, self._shape, self._requests)
        twin._times, twin._rows, twin._known = self._times.copy(), self._rows.copy(), self._known
        twin._is_short, twin._changes, twin._tight = self._is_short, self._changes.copy(), self._tight.copy()
        twin._barriers, twin._doubted = self._barriers.copy(), self._doubted.copy()
        twin._seats, twin._has_ends, twin._narrowed = self._seats.copy(), self._has_ends, self._narrowed.copy()
        return twin

    @property
    def _free(self) -> Amounts:
        """Return the free amounts, by step, kind of resource and node."""
        return self._rows.live[:, :, :-1]

    @property
    def _sums(self) -> Amounts:
        """Return the free amounts of all nodes together, by step and kind of resource."""
        return np.maximum(self._free, 0).sum(axis=2) if self._is_short else self._rows.live[:, :, -1]

    def leave_out_drained(self) -> None:
        """Plan nothing more on nodes that are drained now, as if they never came back."""
        now = self._times[0]
        known = (self._shape.reservations[number] for number in self._shape.concern(now))
        self._has_ends = not any(each.is_drain and each.keeps(now, inf, now) for each in known)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodePlan):
            return False
        mine, its = self._merged(), other._merged()
        return len(mine) == len(its) and all(
            abs(time - then) <= 2 * MOMENT and np.array_equal(free, left)
            for (time, free), (then, left) in zip(mine, its, strict=True)
        )

    def _merged(self) -> list[tuple[float, Amounts]]:
        steps = list(zip(*self.amounts, strict=True))
        return [step for at, step in enumerate(steps) if not at or not np.array_equal(step[1], steps[at - 1][1])]

    def steps(self) -> Iterator[tuple[float, int]]:
        return zip(self._times, self._rows.live[:, 0, -1].tolist(), strict=True)

    def shortage(self) -> float | None:
        short = np.flatnonzero((self._free < 0).any(axis=(1, 2)))
        return self._times[short[0]] if len(short) else None

    def advance(self, now: float) -> None:
        """Remove the steps that lie before `now`, because this time has passed."""
        index = bisect_right(self._times, now + MOMENT) - 1
        if index > 0:
            del self._times[:index], self._changes[:index]
            self._rows.drop(index)
        self._times[0] = now
        if len(self._seats) > self._most_seats:
            self._seats = {rank: known for rank, known in self._seats.items() if known.end > now - MOMENT}
            self._tight = {rank: until for rank, until in self._tight.items() if rank in self._seats}
            self._barriers = {rank: barrier for rank, barrier in self._barriers.items() if rank in self._seats}
            self._most_seats = 2 * len(self._seats) + 64

    # Questions and changes, by job

    def find(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Return the earliest start from `after` on at which the job fits for `lasts` seconds (by default for its
        estimate).

        Starts other than `after` are tried only at times when the plan changes. All nodes together may have too little
        in a step within the duration; then no start up to that step is tried. The start is inf if the job
        needs nodes that `leave_out_drained` left out.
        """
        times, asked = self._times, self._asked(job)
        lasts, request = job.estimate if lasts is None else lasts, asked.request
        is_first = after <= times[0] + MOMENT
        late = self._late.setdefault(request, {}) if asked.grows else {}
        after = max((start for shorter, start in late.items() if shorter <= lasts and start > after), default=after)
        found = self._search(asked, (bisect_right(times, after + MOMENT) - 1, len(times)), after, lasts)
        if found is not None:
            if is_first:
                late[lasts] = found[0]
            self._found = Found(
                job.rank, found[0], found[0] + lasts, found[1], is_first and asked.is_steady, self._barrier
            )
            return found[0]
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
        return self._narrowed.get(job.rank) or self._requests[job.rank]

    def _asked(self, job: Job) -> Asked:
        request, shape = self.request_of(job), self._shape
        known = self._known.get(request)
        if known is None:
            grows = request.more_always_fits and not shape.limits_nodes(request)
            needs, counts = np.array(request.least_total), shape.counts(request)
            is_steady = counts and request.admitted.within < 0
            known = self._known[request] = Asked(request, needs, counts, grows, is_steady)
        return known

    def _search(
        self, asked: Asked, among: tuple[int, int], after: float, lasts: float, own: tuple[int, Held] | None = None
    ) -> tuple[float, Amounts] | None:
        """Return the earliest start in the steps with the indices `among` (from, before), and what is free on each node
        for `lasts` seconds then; None if every step lacks something.

        If the job is in the plan already, `own` says from which step on it holds which resources there. They count as
        free, so the job has enough from that step on.
        """
        times, request, shape = self._times, asked.request, self._shape
        index, end = among
        held_from, held = own or (len(times), None)
        (lacking,) = np.logical_or.reduce(self._sums[index:held_from] < asked.needs, axis=1).nonzero()
        short = (lacking + index).tolist()
        found, barred = None, None
        while index < end:
            start = after if times[index] <= after + MOMENT else times[index]
            last = max(bisect_left(times, start + lasts - MOMENT), index + 1)
            least = bisect_left(short, last)
            if least and short[least - 1] >= index:
                barred = short[least - 1], short[least - 1]
                index = barred[0] + 1
                continue
            if not asked.counts and request.more_always_fits and not shape.fits(request, self._free[index].T):
                index += 1
                continue
            free = self._left_open(request, self._worst(index, last, own), start, start + lasts)
            if shape.fits(request, free):
                found = start, free
                break
            steps = self._free[index:last]
            if held is not None and last > held_from:
                steps = steps.copy()
                steps[held_from - index :] += held.row[:, :-1]
            passed = shape.fits_from(request, steps.transpose(0, 2, 1)) if asked.counts else 0
            barred = (index + passed - 1, last - 1) if passed else barred
            index += max(passed, 1)
        self._barrier = None
        if barred is not None:
            ends = times[barred[1] + 1] if barred[1] + 1 < len(times) else inf
            self._barrier = Barrier(times[barred[0]], times[barred[1]], ends)
        return found

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def amounts(self) -> tuple[list[float], Amounts]:
        """Return the time of each step of the plan, and the free amounts of the nodes by step."""
        return self._times, self._free.transpose(0, 2, 1)

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
        request = self.request_of(job)
        return self._shape.fits(request, self._open(request, start, start + lasts))

    def hold(self, job: Job, start: float, end: float, on: Seats | None = None) -> Seats | None:
        """Occupy the job's resources in the plan from `start` until `end`; return the nodes and amounts.

        They are taken from `on` or, if that is None, from nodes that the placement rule chooses.
        """
        found = self._found if self._found and self._found[:3] == (job.rank, start, end) else None
        self._forget(job)
        if found is not None and found.is_first:
            self._keep_out(job, found.barrier)
        self._found = None
        if on is None:
            request = self.request_of(job)
            free = found.free if found else self._open(request, start, end)
            on = self._shape.seat(request, free)
            if on is None and request.admitted.within >= 0:
                on = Seats((), ())
            if on is None:
                raise DecisionError(f"job {job.id} does not fit the plan of nodes at {exact_clock(start)}")
        self._seats[job.rank] = held = self._held(on, end)
        self._change(start, end, held, -1)
        return on

    def let_go(self, job: Job, start: float, end: float) -> None:
        """Free the resources that `hold` occupied for this job from `start` until `end`."""
        self._late.clear()
        self._forget(job)
        for rank, until in self._tight.items():
            if until < end:
                self._tight[rank] = end
        near = (rank for rank, each in self._barriers.items() if each.first < end and start < each.end)
        self._doubted.update(near)
        if self._found is not None and self._found.rank != job.rank:
            self._found = None
        self._change(start, end, self._seats.pop(job.rank), 1)

    def put(self, job: Job, after: float, lasts: float | None = None) -> float:
        """Reserve the job's resources at the earliest start from `after` on, for its estimate by default; return it."""
        lasts = job.estimate if lasts is None else lasts
        start = self.find(job, after, lasts)
        self.hold(job, start, start + lasts)
        return start

    def seats_of(self, job: Job) -> Seats | None:
        known = self._seats.get(job.rank)
        return None if known is None else known.seats

    def sooner(self, job: Job, start: float, now: float, trials: Trials) -> float:
        """Return the earliest time from `now` on to which the job's reservation from `start` on can move; `start` if it
        cannot, and keeps its nodes. Its own resources count as free in the search. `trials` are not used.

        A job that had no earlier start at the last try needs resources that have become free since then.
        """
        if start <= now + MOMENT:
            return start
        times, barrier = self._times, self._barriers.get(job.rank)
        index = bisect_left(times, start - MOMENT)
        last = min(index, bisect_left(times, self._tight.get(job.rank, inf) + MOMENT))
        asked, held, first = self._asked(job), self._seats[job.rank], 0
        if not asked.is_steady:
            self.let_go(job, start, held.end)
            at = self.find(job, now)
            self.hold(job, start, held.end, held.seats)
            return at
        may_bar = barrier is not None and barrier.first >= now and now + job.estimate - MOMENT > barrier.last
        if barrier is not None and may_bar and self._bars(barrier, job, asked, (index, held)):
            self._doubted.discard(job.rank)
            first = bisect_right(times, barrier.first + MOMENT)
        found = self._search(asked, (first, last), now, job.estimate, (index, held)) if first < last else None
        if found is None:
            self._keep_out(job, self._barrier if first < last else None)
            return start
        self._found = Found(job.rank, found[0], found[0] + job.estimate, found[1], True, self._barrier)
        return found[0]

    def _forget(self, job: Job) -> None:
        self._tight.pop(job.rank, None)
        self._barriers.pop(job.rank, None)
        self._doubted.discard(job.rank)

    def _keep_out(self, job: Job, barrier: Barrier | None) -> None:
        """Remember that the job has no earlier start, and the last barrier before that."""
        self._tight[job.rank] = -inf
        if barrier is not None:
            self._barriers[job.rank] = barrier
            self._doubted.discard(job.rank)

    def _bars(self, barrier: Barrier, job: Job, asked: Asked, own: tuple[int, Held]) -> bool:
        """Return True if the job still does not fit in the steps of the barrier. For `own` see `_search`."""
        if job.rank not in self._doubted:
            return True
        first, last = (bisect_right(self._times, time + MOMENT) for time in (barrier.first, barrier.last))
        return not self._shape.fits(asked.request, self._worst(first - 1, last, own).T)

    def _worst(self, first: int, last: int, own: tuple[int, Held] | None = None) -> Amounts:
        """Return what is free in all steps from `first` to before `last`, by kind of resource and node. For `own` see
        `_search`.
        """
        if own is None or last <= own[0]:
            worst: Amounts = np.minimum.reduce(self._free[first:last])
            return worst
        since, held = own
        worst = self._worst(max(first, since), last) + held.row[:, :-1]
        return np.minimum(worst, self._worst(first, since)) if first < since else worst

    def _open(self, request: Request, start: float, end: float) -> Amounts:
        """Return, for each node, the amounts that are free from `start` until `end`. They are 0 on nodes that
        reservations keep from a job starting at `start`.
        """
        first = max(bisect_right(self._times, start + MOMENT) - 1, 0)
        last = max(bisect_left(self._times, end - MOMENT), first + 1)
        return self._left_open(request, self._worst(first, last), start, end)

    def _left_open(self, request: Request, worst: Amounts, start: float, end: float) -> Amounts:
        return self._shape.left_open(request.admitted, worst.T, start, end, self._times[0], self._has_ends)

    def _change(self, start: float, end: float, held: Held, sign: int) -> None:
        """Free what the job holds in all steps from `start` until `end`; take it if `sign` is -1."""
        if end - start <= MOMENT or not held.seats.nodes:
            return
        first, last = self._edge(start), self._edge(end)
        steps = self._rows.live[first:last]
        steps += sign * held.row
        if sign < 0 and np.min(steps, initial=0) < 0:
            self._is_short = True
        for index in (last, first):
            self._changes[index] -= sign
            if index and self._changes[index] <= 0 and np.array_equal(*self._rows.live[index - 1 : index + 1]):
                del self._times[index], self._changes[index]
                self._rows.remove(index)

    def _held(self, seats: Seats, end: float) -> Held:
        row = np.zeros(self._rows.live.shape[1:], np.int64)
        if seats.nodes:
            nodes, amounts = seats.columns
            row[:, nodes], row[:, -1] = amounts.T, amounts.sum(axis=0)
        return Held(seats, row, end)

    def _edge(self, time: float) -> int:
        """Return the index of the step that begins at `time`, which splits another one if necessary."""
        index = bisect_left(self._times, time - MOMENT)
        if index == len(self._times) or self._times[index] > time + MOMENT:
            if not index:
                raise ValueError(f"{time} is before the plan's present {self._times[0]}")
            self._times.insert(index, time)
            self._rows.repeat(index)
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
