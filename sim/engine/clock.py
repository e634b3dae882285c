"""Time of the next instant of a run: the earliest of all events to come, and the events that belong together."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from heapq import heappop
from math import inf
from typing import Any

import numpy as np

from sim.engine.future import Future, stay_of
from sim.engine.moment import Moment
from sim.machine.moment import MOMENT
from sim.support.errors import ParameterError
from sim.workload.model import Workload


class Given:
    """Workload of a run, in the form in which an engine uses it."""

    def __init__(self, workload: Workload) -> None:
        if np.any(workload.runtime > workload.estimate):
            raise ParameterError("a job runs longer than its estimate: apply Workload.with_overruns first")
        self.workload = workload
        self.runtimes: array[float] = array("d", workload.runtime.tobytes())
        self.submits: array[float] = array("d", np.append(workload.submit, inf).tobytes())
        """Submit time of each job, by rank, then inf"""
        self.killed: bytes = workload.killed.tobytes()
        """1 for each job that is killed at its estimate, else 0"""

    def until(self, last: int) -> Given:
        """Return the same workload, of which the jobs with a rank above `last` never arrive."""
        twin = Given(self.workload)
        twin.submits = array("d", [*self.submits[: last + 1], inf])
        return twin


class Clock:
    """Times of the events to come."""

    def __init__(self, present: Moment, future: Future, submits: array[float]) -> None:
        self._present, self._future, self._submits = present, future, submits

    def time(self) -> float:
        """Return the time of the next step; inf when no event is left."""
        moment = self._present
        if moment._successor is not None:
            return moment._time
        time = min(self._future.next_end(moment._running), self.arrival())
        if moment._timers or moment._wake_at < inf:
            time = min(time, min(self.timer(), moment._wake_at))
        if moment._sharing is not None:
            ends = moment._sharing.next_end(time, self._future.runtimes)
            time = min(time, min(ends, moment._sharing.next_start()))
        if time < inf or moment.left:  # nothing changes any more when all is over
            if moment._node_times and moment._step:
                place = bisect_right(moment._node_times, moment._time)
                time = min([time, *moment._node_times[place : place + 1]])
            if self._future.changes:
                time = min(time, self._future.next_change())
        return time if time == inf else self._latest(time)

    def arrival(self) -> float:
        moment = self._present
        if moment._releases is not None:
            return moment._releases.next_time()
        return self._submits[moment._submitted]

    def timer(self) -> float:
        """Return the time of the next timer; inf if there is none. Void timers before it are removed."""
        moment = self._present
        timers = moment._timers
        while timers:
            if not self._is_void(timers[0]):
                return timers[0][0]
            moment._wakes.discard(heappop(timers))
        return inf

    def _is_void(self, timer: tuple[float, int, float]) -> bool:
        """Return True if the timer has lost its reason: the job no longer has the reservation at that time or, if
        `since` is finite, has left the processors that it has held since then.
        """
        at, rank, since = timer
        if since == inf:
            return rank >= 0 and self._present._reserved.get(rank) != at
        stay = self._present._running.get(rank)
        return stay is None or stay.since != since

    def _latest(self, time: float) -> float:
        """Return the time of the last event that belongs to the same instant as the event at `time`. The whole instant
        is given this time, so that no event happens early.
        """
        moment, future, arrival = self._present, self._future, self.arrival()
        leaving, timers = future.leaving, moment._timers
        while True:
            until = time + MOMENT
            latest = arrival if time < arrival <= until else time
            if future.changes:
                latest = max(latest, future.last_change(until))
            if _may_join(leaving, time, until):
                for end in _heap_up_to(leaving, until):
                    if end[0] > latest and stay_of(end, moment._running) is not None:
                        latest = end[0]
            if _may_join(timers, time, until):
                for timer in _heap_up_to(timers, until):
                    if timer[0] > latest and not self._is_void(timer):
                        latest = timer[0]
            if latest < moment._wake_at <= until:
                latest = moment._wake_at
            if latest == time:
                return time
            time = latest


def _may_join(heap: list[tuple[float, int, Any]], time: float, until: float) -> bool:
    """Return True if an entry of the heap may be after `time` and up to `until`."""
    if not heap or time < heap[0][0]:
        return bool(heap) and heap[0][0] <= until
    return (len(heap) > 1 and heap[1][0] <= until) or (len(heap) > 2 and heap[2][0] <= until)


def _heap_up_to(heap: list[tuple[float, int, Any]], until: float) -> list[tuple[float, int, Any]]:
    """Return the entries of a heap up to the time `until`, in no order; the first is one of them."""
    found, places = [], [0]
    for place in places:
        if place < len(heap) and heap[place][0] <= until:
            found.append(heap[place])
            places += (2 * place + 1, 2 * place + 2)
    return found
