"""Future events that only the engine knows: true ends of running jobs, and unannounced changes of the machine."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from heapq import heappop, heappush
from math import inf

from sim.engine.stay import Stay
from sim.history.stretch import RESUMING, SPECULATIVE, SUSPENDING
from sim.workload.outages import Outage, changes_of


class Future:
    """True ends of the present stays on processors, and changes of the machine to come."""

    def __init__(self, runtimes: array[float], outages: tuple[Outage, ...] = ()) -> None:
        self.runtimes = runtimes
        """True run time of each job in seconds, by rank"""
        self.outages = outages
        """All periods in which processors are unavailable, announced or not"""
        self.changes = changes_of(outages)
        self.applied = -inf
        """Time up to which the changes of the machine have been applied to the state"""
        self.leaving: list[tuple[float, int, int]] = []
        """Heap of (true end, rank, number of the stay); an entry is void if the job has left this stay before"""

    def copy(self) -> Future:
        twin = Future(self.runtimes, self.outages)
        twin.applied, twin.leaving = self.applied, self.leaving.copy()
        return twin

    def add(self, stay: Stay) -> None:
        heappush(self.leaving, (self.end_of(stay), stay.rank, stay.number))

    def end_of(self, stay: Stay) -> float:
        if stay.kind == SUSPENDING:
            return stay.expected_end
        if stay.kind == RESUMING:
            return stay.progress_at
        end = stay.since + self.runtimes[stay.rank] - stay.ran_before
        return min(end, stay.expected_end) if stay.kind == SPECULATIVE else end

    def next_end(self, running: dict[int, Stay]) -> float:
        """Return the next true end of the running jobs; inf if none runs. Void entries before it are removed."""
        leaving = self.leaving
        while leaving:
            if stay_of(leaving[0], running) is not None:
                return leaving[0][0]
            heappop(leaving)
        return inf

    def due(self, now: float, running: dict[int, Stay]) -> list[Stay]:
        """Remove the true ends up to `now`; return the stays that end, in order of rank."""
        leaving, due = self.leaving, list[Stay]()
        while leaving and leaving[0][0] <= now:
            stay = stay_of(heappop(leaving), running)
            if stay is not None:
                due.append(stay)
        if len(due) > 1:
            due.sort(key=_rank)
        return due

    # Changes of the machine

    def break_down(self, outage: Outage) -> None:
        self.outages = tuple(sorted((*self.outages, outage)))
        self.changes = changes_of(self.outages)

    def next_change(self) -> float:
        """Return the time of the next change of the machine that has not been applied; inf if there is none."""
        place = bisect_right(self.changes, self.applied)
        return self.changes[place] if place < len(self.changes) else inf

    def last_change(self, until: float) -> float:
        """Return the time of the latest change of the machine up to `until` not yet applied; -inf if there is none."""
        place = bisect_right(self.changes, until)
        return self.changes[place - 1] if place and self.changes[place - 1] > self.applied else -inf


def stay_of(leaving: tuple[float, int, int], running: dict[int, Stay]) -> Stay | None:
    """Return the stay whose true end is (end, rank, number of the stay); None if it is over already."""
    stay = running.get(leaving[1])
    return stay if stay is not None and stay.number == leaving[2] else None


def _rank(stay: Stay) -> int:
    return stay.rank
