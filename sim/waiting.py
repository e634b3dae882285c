"""The jobs that wait, kept in the order of the policy."""

from __future__ import annotations

from bisect import bisect_left

from sim.policies.orders import Order
from sim.workload.model import Job


class Waiting:
    """A queue: sorted once where the order allows it, at every look where it depends on the clock."""

    __slots__ = ("_by_rank", "_jobs", "_keys", "_order", "wanted")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._by_rank: dict[int, Job] = {}
        self._keys: list[tuple[float, int]] = []
        self._jobs: list[Job] = []
        self.wanted = 0
        """Processors that the waiting jobs ask for together."""

    def __len__(self) -> int:
        return len(self._by_rank)

    def __contains__(self, rank: int) -> bool:
        return rank in self._by_rank

    def add(self, job: Job) -> None:
        """The job joins the queue."""
        self._by_rank[job.rank] = job
        self.wanted += job.procs
        if not self._order.by_clock:
            key = (self._order.key(job, job.submit), job.rank)
            place = bisect_left(self._keys, key)
            self._keys.insert(place, key)
            self._jobs.insert(place, job)

    def remove(self, job: Job) -> None:
        """The job leaves the queue."""
        del self._by_rank[job.rank]
        self.wanted -= job.procs
        if not self._order.by_clock:
            place = bisect_left(self._keys, (self._order.key(job, job.submit), job.rank))
            del self._keys[place], self._jobs[place]

    def in_order(self, now: float) -> list[Job]:
        """The jobs from front to back: a list of the caller's own."""
        if not self._order.by_clock:
            return self._jobs.copy()
        key = self._order.key
        keyed = sorted((key(job, now), rank, job) for rank, job in self._by_rank.items())
        return [job for _, _, job in keyed]
