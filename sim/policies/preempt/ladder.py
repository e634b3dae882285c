"""Running jobs sorted by expansion factor (the ladder), to find which of them an idle (waiting or suspended) job may
suspend.

The height of a job is its expansion factor, (wait + estimate) / estimate. An idle job may suspend a running job only if
its own height is larger by a constant factor, the suspension factor. The largest height among the running jobs that an
idle job must suspend is called its toll.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from math import inf
from typing import TypeAlias

from sim.policies.preempt.keepers import NOBODY
from sim.policies.preempt.xfactors import is_too_wide
from sim.workload.model import Job

Rung: TypeAlias = tuple[float, int, Job, int]
"""Entry of a running job in the ladder: (expansion factor, minus the rank, job, its processors as bits). The factor is
inf if the job may not be suspended.

Jobs of equal xfactor are sorted by rank, the latest first.
"""

Toll: TypeAlias = tuple[float, int]
"""Toll of an idle job: the largest xfactor among the running jobs that it must suspend, and the rank of the job with
that xfactor
"""


class Ladder:
    """Running jobs in the order in which they would be suspended, lowest expansion factor (xfactor) first, and the
    number of free processors.

    A job may not suspend a job that is more than twice as wide.
    """

    __slots__ = ("_prices", "free", "heights", "rungs")

    def __init__(self, rungs: Iterable[Rung] = (), free: int = 0) -> None:
        self.rungs = sorted(rungs)
        self.heights = {-rank: height for height, rank, _, _ in self.rungs}
        """Mapping from the rank of each running job to its xfactor, which is inf if the job may not be suspended"""
        self.free = free
        self._prices: dict[int, float] = {}

    def copy(self) -> Ladder:
        return Ladder(self.rungs, self.free)

    def add(self, height: float, job: Job, processors: int) -> None:
        """Add a running job with its xfactor (`height`) and its processors."""
        self.heights[job.rank] = height
        insort(self.rungs, (height, -job.rank, job, processors))
        self._prices.clear()

    def remove(self, rank: int) -> Rung:
        """Remove the job `rank`, which no longer runs, and return its entry."""
        self._prices.clear()
        return self.rungs.pop(bisect_left(self.rungs, (self.heights.pop(rank), -rank)))

    def raise_to(self, rank: int, height: float) -> None:
        """Set the xfactor (`height`) of the running job `rank`."""
        if self.heights[rank] != height:
            _, _, job, processors = self.remove(rank)
            self.add(height, job, processors)

    def stands_beside(self, free: int) -> None:
        """Set the number of free processors, which a job may use in addition to those of the jobs that it suspends."""
        if free != self.free:
            self.free = free
            self._prices.clear()

    def price(self, procs: int) -> float:
        """Return the largest xfactor among the jobs that a job on `procs` processors must suspend.

        The result is 0 if enough processors are free, and inf if suspending all allowed jobs would not be enough.
        """
        price = self._prices.get(procs)
        if price is None:
            price = self._prices[procs] = self._priced(procs)
        return price

    def toll(self, procs: int, pinned: int) -> Toll:
        """Return the toll of a job that needs the processors `pinned` (bits): the largest xfactor of the running jobs
        on them, and the rank of the job with this xfactor.

        The xfactor is inf if one of these jobs may not be suspended. If some are too wide to be suspended (more than
        twice `procs`), the rank is that of the widest. Without a job on these processors the toll is (0, -1).
        """
        above = [rung for rung in self.rungs if rung[3] & pinned]
        if not above:
            return 0, NOBODY
        wide = (rung for rung in above if is_too_wide(rung[2].procs, procs))
        barriers = [(job.procs, processors, job.rank) for _, _, job, processors in wide]
        return (inf, max(barriers)[2]) if barriers else (above[-1][0], above[-1][2].rank)

    def _priced(self, procs: int) -> float:
        needed = procs - self.free
        if needed <= 0:
            return 0
        for height, _, job, _ in self.rungs:
            if not is_too_wide(job.procs, procs):
                needed -= job.procs
                if needed <= 0:
                    return height
        return inf
