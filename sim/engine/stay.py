"""Stays of jobs on processors, and the list of the stays that last now, in order of their expected ends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from sim.history.stretch import RUN, SPECULATIVE
from sim.workload.model import Job


class Stay:
    """Stay of a job on processors, which never changes: its beginning, and its end as expected from the estimate. The
    true end is known to the engine only.
    """

    def __init__(
        self,
        number: int,
        job: Job,
        since: float,
        expected_end: float,
        kind: int,
        stretch: int,
        ran_before: float,
        progress_at: float,
    ) -> None:
        self.number = number
        """Number of the stay in its run: each has its own, also where the history is not written"""
        self.job, self.since, self.expected_end = job, since, expected_end
        self.rank, self.procs = job.rank, job.procs
        self.kind = kind
        """Kind of the stay, such as an ordinary or a speculative run, as index into `sim.history.stretch.KINDS`."""
        self.stretch = stretch
        """Number of the stretch that records this stay in the history"""
        self.ran_before = ran_before
        """Seconds that the job had run before this stay"""
        self.progress_at = progress_at
        """Time from which a resumed job makes progress, when its memory has been read; inf for any other stay"""

    def recorded_by(self, stretch: int) -> Stay:
        """Return the same stay in another history, which records it by this stretch."""
        return Stay(
            self.number, self.job, self.since, self.expected_end, self.kind, stretch, self.ran_before, self.progress_at
        )

    @property
    def runs(self) -> bool:
        """Return True if the job can be suspended: no speculative run, and no memory of it is written or read."""
        return self.kind == RUN

    def ran_by(self, now: float) -> float:
        """Return the seconds that the job will have run by `now`, if this stay lasts until then."""
        return self.ran_before + now - self.since if self.kind in (RUN, SPECULATIVE) else self.ran_before


class Stays:
    """Stays that last now, sorted by (expected end, rank)."""

    def __init__(self) -> None:
        self.in_order: list[Stay] = []
        self._ends: list[float] = []
        """Their expected ends, which a compiled search compares faster than tuples"""

    def copy(self) -> Stays:
        twin = Stays()
        twin.in_order, twin._ends = self.in_order.copy(), self._ends.copy()
        return twin

    def add(self, stay: Stay) -> None:
        ends, end, in_order = self._ends, stay.expected_end, self.in_order
        place = bisect_right(ends, end)
        ends.insert(place, end)
        while place and ends[place - 1] == end and in_order[place - 1].rank > stay.rank:
            place -= 1
        in_order.insert(place, stay)

    def remove(self, stay: Stay) -> None:
        in_order, place = self.in_order, bisect_left(self._ends, stay.expected_end)
        self._ends.pop(place)
        while in_order[place] is not stay:
            place += 1
        in_order.pop(place)

    def ends(self) -> list[tuple[float, int, int]]:
        return [(stay.expected_end, stay.rank, stay.procs) for stay in self.in_order]
