"""Time of the next event: the earliest of ends, arrivals, timers, turns of rows and changes of the machine.

Ends and timers are kept in heaps. An entry of a heap is void if its event will not happen, for instance because the job
has been suspended since.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from heapq import heappop
from math import inf
from typing import Any

from sim.engine.state import Future, State
from sim.machine.moment import MOMENT


class NextEvent:
    """Object that finds the time of the next event of a run."""

    def __init__(self, state: State, future: Future, submits: Sequence[float], runtimes: Sequence[float]) -> None:
        self._state, self._future, self._submits, self._runtimes = state, future, submits, runtimes

    def time(self) -> float | None:
        """Return the time of the next event; None when no event is left."""
        state, future, time = self._state, self._future, inf
        leaving, leaves = future.leaving, future.leaves
        while leaving:
            time, rank = leaving[0]
            if leaves.get(rank) == time:
                break
            heappop(leaving)
            time = inf
        arrives = self._submits[state.submitted] if state.releases is None else state.releases.next_time()
        if arrives < time:
            time = arrives
        beside = bool(state.timers or state.wake_at < inf or state.sharing or future.changes or state.node_times)
        if beside:
            time = self._with_rare_events(time)
        if state.successor is not None:
            return state.now
        if time == inf:
            return None
        until, many = time + MOMENT, len(leaving)
        if (
            time < arrives <= until
            or (many and time != leaving[0][0] <= until)
            or (many > 1 and leaving[1][0] <= until)
            or (many > 2 and leaving[2][0] <= until)
            or (beside and self._coincides(time, until))
        ):
            return self._latest(time)
        return time

    def _with_rare_events(self, time: float) -> float:
        """Return the time of the next event, rare ones included. `time` is the time of the next end or arrival; timers,
        turns of rows and changes of the machine can come earlier.
        """
        state, timers, reserved = self._state, self._state.timers, self._state.reserved
        while timers:
            at, rank, since = timers[0]
            if reserved.get(rank) == at or not self._is_void(at, rank, since):
                if at < time:
                    time = at
                break
            timer = heappop(timers)
            if state.wakes:
                state.wakes.discard(timer)
        time = min(time, state.wake_at)
        if sharing := state.sharing:
            time = min(time, sharing.next_end(time, self._runtimes), sharing.next_start())
        if state.node_times and state.step_count and (time < inf or state.left):
            place = bisect_right(state.node_times, state.now)
            time = min([time, *state.node_times[place : place + 1]])
        if not self._future.changes:
            return time
        change = self._future.next_change()
        return change if change < time and (time < inf or state.left) else time  # not when all is over

    def _coincides(self, time: float, until: float) -> bool:
        """Return True if a timer or machine change comes after `time` and up to `until`, in the same instant."""
        timers = self._state.timers
        if time < self._state.wake_at <= until:
            return True
        if timers and timers[0][0] <= until and (timers[0][0] != time or any(at <= until for at, *_ in timers[1:3])):
            return True
        return bool(self._future.changes) and time < self._future.next_change() <= until

    def _latest(self, time: float) -> float:
        """Return the time of the last event that belongs to the same instant as the event at `time`. The whole instant
        is given this time, so that no event happens early.
        """
        state, leaving, timers = self._state, self._future.leaving, self._state.timers
        arrives = self._submits[state.submitted] if state.releases is None else state.releases.next_time()
        while True:
            until = time + MOMENT
            latest = max(arrives if time < arrives <= until else time, self._future.last_change(until))
            latest = _latest_in(leaving, latest, until, self._will_not_be)
            latest = _latest_in(timers, latest, until, self._is_void)
            if latest < self._state.wake_at <= until:
                latest = self._state.wake_at
            if latest == time:
                return time
            time = latest

    def _will_not_be(self, when: float, rank: int) -> bool:
        """Return True if the entry (`when`, `rank`) of the heap of ends is void: the job's present stay on processors
        does not end at `when`.
        """
        return self._future.leaves.get(rank) != when

    def _is_void(self, when: float, rank: int, since: float) -> bool:
        """Return True if the timer (`when`, `rank`, `since`) is void: the job no longer has the reservation at `when`
        or, if `since` is finite, has left the processors that it has held since then.
        """
        if since == inf:
            return rank >= 0 and self._state.reserved.get(rank) != when
        allocation = self._state.running.get(rank)
        return allocation is None or allocation.since != since


def _latest_in(heap: Sequence[Any], latest: float, until: float, is_void: Callable[..., bool]) -> float:
    """Return the latest time after `latest` and up to `until` among the entries of the heap that are not void; `latest`
    if there is no such entry.
    """
    ahead = [0]
    for place in ahead:
        if place < len(heap) and heap[place][0] <= until:
            if not is_void(*heap[place]):
                latest = max(latest, heap[place][0])
            ahead += (2 * place + 1, 2 * place + 2)
    return latest
