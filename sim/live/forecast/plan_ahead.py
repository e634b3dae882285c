"""Plan of the starts of a cluster's waiting jobs: each job, in order of priority, gets its earliest start.

This is how Slurm's backfill expects starts. The whole plan is made in one pass, so that there is time for many plans
with other run times.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import ceil, floor, inf, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.machine.moment import MOMENT
from sim.workload.shape import Amounts, Request, Seats, Shape

COARSE = 1 / 64
"""Largest share of the time until an end by which it is rounded up in a coarse plan."""
BLOCK = 32
"""Number of steps that a search for a start examines first; each further portion is twice as large."""


class Waiting(NamedTuple):
    """Job to be planned: its number, run time in seconds, and earliest start."""

    number: int
    length: float
    after: float = 0.0
    only: int | None = None
    """Number of the one partition in which the job is tried; None for all that it may use."""


@dataclass(frozen=True)
class Demands:
    """Limits on what jobs of an account, user or QOS take at one time, and what each job takes of them."""

    most: Sequence[float] = ()
    """For each limit: largest amount of it that jobs may take in total."""
    taken: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """For each job, by number: pairs (index of the limit in `most`, amount that the job takes of it)."""


class PlanAhead:
    """Free resources of each node, and what is taken of each limit, at each time from now on (time 0)."""

    def __init__(
        self,
        shape: Shape,
        demands: Demands,
        running: Iterable[tuple[int, Seats, float]],
        grain: float = 1.0,
        is_coarse: bool = False,
        clock: float = 0.0,
    ) -> None:
        """Make the plan in which only running jobs hold resources. `running` are their (number, nodes and amounts,
        seconds until the end). All ends are rounded up to multiples of `grain` seconds on the clock, which shows the
        time `clock` now, as Slurm does. With `is_coarse`, far ends are rounded up by up to `COARSE` of the time until
        then, so that there are few steps.
        """
        self._shape, self._demands, self._grain, self._is_coarse = shape, demands, grain, is_coarse
        self._since = clock % grain
        """Seconds since the clock last showed a multiple of `grain`."""
        ends = sorted(((number, seats, self._rounded(end)) for number, seats, end in running), key=lambda each: each[2])
        times = sorted({0.0, *(end for _, _, end in ends), *shape.changes_after(0.0)})
        self._times = [0.0, *(time for before, time in pairwise(times) if time > before + MOMENT)]
        freed = np.zeros((len(self._times), *shape.has.shape), np.int64)
        for _, seats, end in ends:
            freed[max(bisect_right(self._times, end + MOMENT) - 1, 1), list(seats.nodes)] += np.array(seats.amounts)
        self._steps = np.cumsum(freed, axis=0) + (shape.has - freed.sum(axis=0))
        """Free amounts of each node in each step of the plan. The first rows belong to the times in `_times`; the rows
        after them are space for more steps
        """
        self._used = [PlannedUse() for _ in demands.most]
        for number, _, end in ends:
            for limit, amount in demands.taken.get(number, ()):
                self._used[limit].add(0.0, end, amount)
        self._late: dict[Request, dict[float, float]] = {}
        """For each request and run time: a time before which no job with this request and run time fits"""
        self._open: dict[tuple[tuple[int, ...], frozenset[str]], NDArray[np.bool_]] = {}
        """For each combination of partitions and features: whether a job that asks for them may use each node"""

    def starts(self, waiting: Iterable[Waiting]) -> dict[int, float]:
        """Return the start of each job, by number. The jobs must be in order of priority.

        A job that a limit still holds back, or that may not start yet, is planned only from the time at which it may
        start. Jobs of lower priority can start before that time.
        """
        found, deferred = dict[int, float](), list[Waiting]()
        for job in waiting:
            while True:
                ready = self._ready(job)
                if ready > MOMENT:
                    deferred.append(job)
                    break
                start, seats = self._find(job, ready)
                first = next((other for other in deferred if self._ready(other) <= start), None)
                if first is None:
                    self._place(job, start, seats, found)
                    break
                deferred.remove(first)
                self._place(first, *self._find(first, self._ready(first)), found)
        while deferred:
            first = min(deferred, key=self._ready)
            deferred.remove(first)
            self._place(first, *self._find(first, self._ready(first)), found)
        return found

    def earliest(self, job: Waiting) -> tuple[float, Seats | None]:
        """Return (earliest start, nodes and amounts) of one more job without adding it, (inf, None) for never."""
        return self._find(job, self._ready(job))

    def longest_now(self, number: int, most: float) -> float:
        """Return the longest time, at most `most`, for which a job with the request `number` fits from now on, else 0.

        It may be inf if `most` is.
        """
        ends = [*(time for time in self._times if MOMENT < time < most), most]
        fitting = bisect_left(ends, True, key=lambda end: self.earliest(Waiting(number, end))[0] > MOMENT)
        return ends[fitting - 1] if fitting else 0.0

    def _ready(self, job: Waiting) -> float:
        """Return the earliest time at which neither a limit nor its own earliest start keeps the job from starting."""
        after = job.after
        for limit, amount in self._demands.taken.get(job.number, ()):
            after = max(after, self._used[limit].room(after, amount, self._demands.most[limit]))
        return after

    def _find(self, job: Waiting, after: float) -> tuple[float, Seats | None]:
        """Return (earliest start from `after` on, nodes and amounts); inf and None if the job never fits."""
        request, shape = self._shape.requests[job.number], self._shape
        request = request if job.only is None else replace(request, groups=(job.only,))
        known = self._late.setdefault(request, {})
        late = max((start for length, start in known.items() if length <= job.length), default=0.0)
        first = bisect_right(self._times, max(after, late) + MOMENT) - 1
        for at in self._places(request, first, after, job.length):
            start = max(self._times[at], after)
            last = max(bisect_left(self._times, start + job.length - MOMENT), at + 1)
            worst: Amounts = self._steps[at:last].min(axis=0) if last > at + 1 else self._steps[at]
            seats = shape.seat(request, shape.left_open(request.admitted, worst, start, start + job.length, 0.0))
            if seats is not None:
                if after <= late + MOMENT and request.more_always_fits:
                    known[job.length] = start
                return start, seats
        return inf, None

    def _places(self, request: Request, first: int, after: float, length: float) -> Iterator[int]:
        """Yield the indices of steps from `first` on in which the request may fit for `length` seconds."""
        many = BLOCK
        while first < len(self._times):
            starts = np.maximum(self._times[first : first + 2 * many], after)
            may = self._may_fit(request, first, starts, length)[:many]
            yield from (first + np.flatnonzero(may)).tolist()
            first, many = first + many, 2 * many

    def _may_fit(self, request: Request, first: int, starts: NDArray[np.float64], length: float) -> NDArray[np.bool_]:
        """Return False for each step from `first` on at which the request cannot fit for `length` seconds."""
        free = self._steps[first : first + len(starts)]
        steps, nodes, kinds = free.shape
        room = Shape.room(request, free.reshape(steps * nodes, kinds)).reshape(steps, nodes)
        room = np.where(self._allowed(request), np.maximum(room, 0), 0)
        ends = np.append(self._times[first : first + steps], inf)
        full = np.where(room > 0, steps, np.arange(steps)[:, None])  # the next step in which each node is full
        until = ends[np.minimum.accumulate(full[::-1])[::-1]]
        room[until < (starts + length - MOMENT)[:, None]] = 0
        if request.tasks is None:
            found: NDArray[np.bool_] = (room > 0).sum(axis=1) >= (request.nodes or 0)
        else:
            found = room.sum(axis=1) >= request.tasks
        return found

    def _allowed(self, request: Request) -> NDArray[np.bool_]:
        key = request.groups, request.features
        if key not in self._open:
            found = [self._shape.allowed(request.features, group) for group in request.groups or (None,)]
            every = np.ones(len(self._shape.nodes), np.bool_)
            self._open[key] = np.any([every if each is None else each for each in found], axis=0)
        return self._open[key]

    def _place(self, job: Waiting, start: float, seats: Seats | None, found: dict[int, float]) -> None:
        """Let the job hold its resources from `start` on, unless it never fits or starts elsewhere by then."""
        if seats is None or start >= found.get(job.number, inf):
            return
        is_known = job.number in found
        found[job.number] = start
        end = self._rounded(start + job.length)
        if job.length > MOMENT:
            first, last = self._edge(start), self._edge(end)
            if seats.nodes:
                self._steps[first:last, list(seats.nodes)] -= np.array(seats.amounts, np.int64)
        for limit, amount in () if is_known else self._demands.taken.get(job.number, ()):
            self._used[limit].add(start, end, amount)

    def _edge(self, time: float) -> int:
        index, many = bisect_left(self._times, time - MOMENT), len(self._times)
        if index == many or self._times[index] > time + MOMENT:
            if many == len(self._steps):
                self._steps = np.concatenate((self._steps, np.empty_like(self._steps)))
            self._steps[index + 1 : many + 1] = self._steps[index:many]
            self._steps[index] = self._steps[index - 1]
            self._times.insert(index, time)
        return index

    def _rounded(self, end: float) -> float:
        grain = max(self._grain, COARSE * 2.0 ** floor(log2(end)) if self._is_coarse and end > 1 else 0.0)
        since = self._since if grain == self._grain else 0.0
        return ceil((end + since - MOMENT) / grain) * grain - since


class PlannedUse:
    """Amount of a limit that jobs take at each time."""

    def __init__(self) -> None:
        self._times, self._used = [0.0], [0]

    def add(self, start: float, end: float, amount: int) -> None:
        for at in range(self._edge(start), self._edge(end)):
            self._used[at] += amount

    def room(self, after: float, amount: int, most: float) -> float:
        """Return the first time from `after` on at which `amount` more may be taken; inf if there is none."""
        for at in range(bisect_right(self._times, after) - 1, len(self._times)):
            if self._used[at] + amount <= most:
                return max(self._times[at], after)
        return inf

    def _edge(self, time: float) -> int:
        index = bisect_left(self._times, time)
        if index == len(self._times) or self._times[index] != time:
            self._times.insert(index, time)
            self._used.insert(index, self._used[index - 1])
        return index
