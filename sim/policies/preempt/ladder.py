"""The running jobs by expansion factor: what it takes to suspend enough of them."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from math import inf
from typing import TypeAlias

from sim.policies.preempt.keepers import NOBODY
from sim.workload.model import Job

Rung: TypeAlias = tuple[float, int, Job, int]
"""(xfactor, minus the rank, running job, its processors). The xfactor is inf where the job may not be suspended.

Of equal xfactors the latest rank comes first.
"""

Toll: TypeAlias = tuple[float, int]
"""(xfactor to exceed by the suspension factor, rank of the job that has it, or NOBODY)"""


class Ladder:
    """Running jobs in the order in which they would be suspended, and the number of free processors.

    A job does not suspend one more than twice as wide as itself.
    """

    __slots__ = ("_prices", "free", "heights", "rungs")

    def __init__(self, rungs: Iterable[Rung] = (), free: int = 0) -> None:
        self.rungs = sorted(rungs)
        self.heights = {-rank: height for height, rank, _, _ in self.rungs}
        """rank -> xfactor, or inf"""
        self.free = free
        self._prices: dict[int, float] = {}

    def copy(self) -> Ladder:
        return Ladder(self.rungs, self.free)

    def add(self, height: float, job: Job, processors: int) -> None:
        """One more job runs."""
        self.heights[job.rank] = height
        insort(self.rungs, (height, -job.rank, job, processors))
        self._prices.clear()

    def remove(self, rank: int) -> Rung:
        """One does not run any more."""
        self._prices.clear()
        return self.rungs.pop(bisect_left(self.rungs, (self.heights.pop(rank), -rank)))

    def raise_to(self, rank: int, height: float) -> None:
        """The xfactor with which the job stands there is another."""
        if self.heights[rank] != height:
            _, _, job, processors = self.remove(rank)
            self.add(height, job, processors)

    def stands_beside(self, free: int) -> None:
        """Set the number of free processors."""
        if free != self.free:
            self.free = free
            self._prices.clear()

    def price(self, procs: int) -> float:
        """Return the xfactor whose jobs must be suspended to start a new job of this width; inf if all are too few."""
        price = self._prices.get(procs)
        if price is None:
            price = self._prices[procs] = self._priced(procs)
        return price

    def toll(self, procs: int, pinned: int) -> Toll:
        """Return the highest xfactor on these processors and its job; inf if a job there may not be suspended.

        Of several who bar the way it is the widest whose toll it is, else whoever stands highest.
        """
        above = [rung for rung in self.rungs if rung[3] & pinned]
        if not above:
            return 0, NOBODY
        widest = 2 * procs
        barriers = [(job.procs, processors, job.rank) for _, _, job, processors in above if job.procs > widest]
        return (inf, max(barriers)[2]) if barriers else (above[-1][0], above[-1][2].rank)

    def _priced(self, procs: int) -> float:
        needed = procs - self.free
        if needed <= 0:
            return 0
        widest = 2 * procs
        for height, _, job, _ in self.rungs:
            if job.procs <= widest:
                needed -= job.procs
                if needed <= 0:
                    return height
        return inf
