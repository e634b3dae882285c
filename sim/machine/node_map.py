"""Slurm's map of the future, in which its backfill plans: the nodes that no planned job holds at each future time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import floor, inf
from typing import TypeAlias

import numpy as np

from sim.machine.moment import MOMENT, is_by
from sim.machine.node_plan import NodePlan
from sim.workload.model import Job
from sim.workload.shape import Amounts, Kept, Request, Seats

WINDOW = 30.0
"""Seconds in which the ends of running jobs count as one, at first; twice as many after each try."""
Ends: TypeAlias = tuple[Amounts, list[float], Kept, Amounts]
"""Free amounts of the nodes now, times at which running jobs end, and two arrays by time and node: whether something
becomes free, and what is free then.
"""


class NodeMap:
    """Whole nodes that planned jobs leave, at each future time, and the running jobs' ends.

    Record i holds from `_times[i]` until `_times[i + 1]`; the last record has no end.
    """

    def __init__(self, running: NodePlan, grain: float) -> None:
        """Begin with a plan in which only running jobs hold resources. Times of planned jobs are rounded down to
        multiples of `grain` seconds.
        """
        self._running, self._grain = running, grain
        nodes = len(running.shape.nodes)
        self._now = running.amounts[0][0]
        self._times, self._open = [self._now], [np.ones(nodes, np.bool_)]
        self._ends: Ends | None = None

    def find(self, job: Job, only: int, until: float) -> tuple[float, Seats] | None:
        """Return (the job's earliest start as Slurm finds it, what it gets of which nodes), and hold that: at once
        the resources, later the whole nodes. None if there is no start up to `until`.

        The job is tried in the partition `only`; -1 stands for all that it may use.
        """
        self._running.narrow(job, only)
        found = self._found(job, until)
        if found is not None and found[0] <= self._now:
            self._running.hold(job, self._now, self._now + job.estimate, found[1])
            self._ends = None
        elif found is not None:
            self._close(found[1], found[0], found[0] + job.estimate)
        return found

    def _found(self, job: Job, until: float) -> tuple[float, Seats] | None:
        """Return the job's start and its nodes.

        A try begins at a time, first now. It looks at the nodes that planned jobs leave from then on for the job's
        whole time limit. There the job starts at once, or when enough running jobs have ended. The next try begins when
        planned jobs leave other nodes, if that is before this start. It begins at the start if a planned job needs one
        of the found nodes before the job's end.
        """
        request = self._running.request_of(job)
        later: float | None = self._now
        while later is not None:
            begin = later
            if request.admitted.within >= 0:
                own = self._running.shape.reservations[request.admitted.within]
                begin = max(begin, own.start)
                if begin >= own.end - MOMENT:
                    return None
            nodes, later = self._left(request, begin, begin + job.estimate)
            found = self._on(request, nodes)
            if found is None:
                continue
            at, seats = max(found[0], begin), found[1]
            if at <= self._now + MOMENT:
                return self._now, seats
            if later is not None and at > later + MOMENT:
                continue
            if not is_by(at, until):
                return None
            if at <= begin + MOMENT or not self._overlaps(seats, at, at + job.estimate):
                return at, seats
            later = at
        return None

    def _close(self, seats: Seats, start: float, end: float) -> None:
        """Close the nodes for other planned jobs from `start` to `end`, both rounded down, for one grain at least."""
        first, last = self._rounded(start, end)
        at, until = self._edge(first), self._edge(last)
        for record in range(at, until):
            self._open[record][list(seats.nodes)] = False
        for record in (until, at):
            if record and np.array_equal(self._open[record], self._open[record - 1]):
                del self._times[record], self._open[record]

    def _rounded(self, start: float, end: float) -> tuple[float, float]:
        first, last = (floor((time + MOMENT) / self._grain) * self._grain for time in (start, end))
        first = max(first, self._now)
        return first, max(last, first + self._grain)

    def _left(self, request: Request, begin: float, end: float) -> tuple[Kept, float | None]:
        """Return the nodes that the request may use and planned jobs leave from `begin` to `end` (True for each of
        them), and the time of the next try; None if this is the last one.
        """
        allowed, later = self._running.open_to(request, begin, end)
        nodes = allowed.copy()
        last = len(self._times) - 1
        first_end: float | None = None
        for record in range(bisect_right(self._times, begin + MOMENT) - 1, last + 1):
            if first_end is None and record < last:
                more = allowed & self._open[record + 1] & ~(nodes & self._open[record])
                first_end = self._times[record + 1] if more.any() else None
            if self._times[record] > end + MOMENT:
                break
            nodes &= self._open[record]
        return nodes, first_end if later is None else min(later, first_end if first_end is not None else inf)

    def _on(self, request: Request, nodes: Kept) -> tuple[float, Seats] | None:
        """Return the start of the request on these nodes, if only running jobs hold resources, and what it gets there.

        Slurm tries not each end of a running job but the last end within a window, and doubles the window each time.
        The windows begin at the first end on these nodes, rounded up to a multiple of `WINDOW`.
        """
        if not nodes.any():
            return None
        now_free, ends, changed, free = self._released()
        if (seats := self._seat(request, now_free, nodes)) is not None:
            return self._now, seats
        matters = np.any(changed & nodes, axis=1).tolist()
        size, edge, at = WINDOW, -inf, 0
        while at < len(ends):
            last = -1
            while at < len(ends) and (last < 0 or ends[at] <= edge + size + MOMENT):
                if matters[at]:
                    last = at
                    if edge == -inf:
                        edge = floor((ends[at] + MOMENT) / WINDOW) * WINDOW + WINDOW
                at += 1
            if last < 0:
                return None
            size *= 2
            while at < len(ends) and ends[at] > edge + size + MOMENT:
                size *= 2
            if (seats := self._seat(request, free[last], nodes)) is not None:
                return ends[last], seats
        return None

    def _seat(self, request: Request, free: Amounts, nodes: Kept) -> Seats | None:
        return self._running.shape.seat(request, np.where(nodes[:, None], free, 0))

    def _released(self) -> Ends:
        if self._ends is None:
            times, free = self._running.amounts
            grows = np.any(free[1:] > free[:-1], axis=2)
            (ends,) = np.any(grows, axis=1).nonzero()
            self._ends = free[0].copy(), [times[end + 1] for end in ends], grows[ends], free[1:][ends]
        return self._ends

    def _overlaps(self, seats: Seats, start: float, end: float) -> bool:
        first, last = self._rounded(start, end)
        records = range(max(bisect_right(self._times, first + MOMENT) - 1, 0), bisect_left(self._times, last - MOMENT))
        return any(not self._open[record][list(seats.nodes)].all() for record in records)

    def _edge(self, time: float) -> int:
        record = bisect_left(self._times, time - MOMENT)
        if record == len(self._times) or self._times[record] > time + MOMENT:
            self._times.insert(record, time)
            self._open.insert(record, self._open[record - 1].copy())
        return record
