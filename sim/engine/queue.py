"""Queue of the waiting jobs, kept in the policy's order."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING

from sim.policies.orders import Fcfs, Order
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

_RANK: Callable[[Job], int] = attrgetter("rank")


class Queue:
    """Queue of waiting jobs, kept sorted. If the order depends on the clock, the queue is sorted again at each pass."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._is_fcfs = type(order) is Fcfs
        self.by_clock = order.by_clock
        self.looks = order.looks
        """True if the order (rule that sorts the queue) depends on more than the job and the clock."""
        self.jobs: dict[int, Job] = {}
        """Mapping from rank to waiting job, in the order in which the jobs were added"""
        self._keys: list[tuple[float, int]] = []
        self.jobs_in_order: list[Job] = []
        """Waiting jobs from front to back; empty if the order depends on the clock"""
        self._stand: list[Job] = []
        self._stood_at: tuple[float, int] | None = None
        """Time and step for which `_stand`, the sorted list of jobs, was made; None if it must be made again. Used only
        if the order depends on the clock
        """
        self.step = 0
        """Number of the step in which the order was last computed for a pass."""
        self.seen: Order | None = None
        """Rule that sorts the queue, with the data that it used at the last pass; None if the rule depends only on the
        job and the clock.
        """
        self.wanted = 0
        """Total number of processors that the waiting jobs request."""

    @classmethod
    def of(cls, order: Order, jobs: Iterable[Job]) -> Queue:
        queue = cls(order)
        if not order.by_clock:
            jobs = queue.jobs_in_order = sorted(jobs, key=queue._key)
            queue._keys = [*map(queue._key, jobs)]
        queue.jobs = {job.rank: job for job in jobs}
        queue.wanted = sum(job.procs for job in queue.jobs.values())
        return queue

    def _key(self, job: Job) -> tuple[float, int]:
        return (job.submit if self._is_fcfs else self._order.key(job, job.submit)), job.rank

    @property
    def order(self) -> Order:
        """Return the rule that sorts the queue, as computed for the last pass."""
        return self.seen or self._order.at_step(self.step)

    def look(self, view: Moment) -> None:
        """Update the order from the state, before a pass."""
        self.seen, self._stood_at = self._order.seeing(view), None

    def ranks(self) -> array[int]:
        return array("l", self.jobs if self.by_clock else map(_RANK, self.jobs_in_order))

    def add(self, job: Job) -> None:
        self.jobs[job.rank] = job
        self.wanted += job.procs
        if self.by_clock:
            self._stood_at = None
        else:
            keys, key = self._keys, self._key(job)
            place = len(keys) if keys and keys[-1] < key else bisect_left(keys, key)
            keys.insert(place, key)
            self.jobs_in_order.insert(place, job)

    def remove(self, job: Job) -> None:
        del self.jobs[job.rank]
        self.wanted -= job.procs
        if not self.by_clock:
            keys, in_order, place = self._keys, self.jobs_in_order, 0
            if in_order[0] is not job:
                place = bisect_left(keys, self._key(job))
            keys.pop(place)
            in_order.pop(place)

    def in_order(self, now: float) -> list[Job]:
        if not self.by_clock:
            return self.jobs_in_order.copy()
        if self._stood_at != (now, self.step):
            key, self._stood_at = self.order.key, (now, self.step)
            self._stand = [job for _, _, job in sorted([(key(job, now), rank, job) for rank, job in self.jobs.items()])]
        elif len(self._stand) > len(self.jobs):  # some have left since
            self._stand = [job for job in self._stand if job.rank in self.jobs]
        return self._stand.copy()

    def is_first(self, job: Job, now: float) -> bool:
        if not self.by_clock:
            return self.jobs_in_order[0] is job
        if self._stood_at != (now, self.step):
            self.in_order(now)
        while self._stand[0].rank not in self.jobs:
            del self._stand[0]
        return self._stand[0] is job
