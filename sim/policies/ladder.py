"""The running jobs by expansion factor: what it takes to suspend enough of them.

Whether a job may preempt is asked for every idle job at every tick, and the answer is mostly no. The ladder answers
from sums over the running jobs that are made once, and says from which xfactor on the answer would be yes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from sim.workload.model import Job


class Rung(NamedTuple):
    """A running job that may be suspended, with its xfactor."""

    xfactor: float
    latest: int
    """Minus the rank: of equal xfactors the latest rank comes first."""
    job: Job
    processors: int


class Ladder:
    """Running jobs in the order in which they would be suspended; `fixed` are processors of jobs that may not be.

    A job does not suspend one more than twice as wide as itself.
    """

    def __init__(self, rungs: Iterable[Rung], free: int, fixed: int) -> None:
        self.rungs = sorted(rungs)
        self._free, self._fixed = free, fixed
        self._prices: dict[int, float] = {}
        self._from_top = _unions(reversed(self.rungs))
        self._by_width = sorted(self.rungs, key=lambda rung: -rung.job.procs)
        self._from_widest = _unions(self._by_width)

    def price(self, procs: int) -> float:
        """The largest xfactor among those that must be suspended for a new job so wide; inf if all are too few."""
        if procs not in self._prices:
            self._prices[procs] = self._priced(procs)
        return self._prices[procs]

    def toll(self, procs: int, pinned: int) -> float:
        """The largest xfactor among those that sit on these processors; inf if one may not be suspended."""
        if pinned & self._fixed:
            return inf
        widest = _first_on(self._from_widest, pinned)
        if widest is None:
            return 0
        if procs < self._by_width[widest].job.procs / 2:
            return inf
        top = _first_on(self._from_top, pinned)
        return self.rungs[-1 - top].xfactor if top is not None else 0

    def _priced(self, procs: int) -> float:
        needed = procs - self._free
        if needed <= 0:
            return 0
        for rung in self.rungs:
            if procs >= rung.job.procs / 2:
                needed -= rung.job.procs
                if needed <= 0:
                    return rung.xfactor
        return inf


def _unions(rungs: Iterable[Rung]) -> list[int]:
    """The processors of the first, of the first two, ..."""
    together, unions = 0, []
    for rung in rungs:
        together |= rung.processors
        unions.append(together)
    return unions


def _first_on(unions: list[int], processors: int) -> int | None:
    """The place of the first job that holds one of these processors."""
    if not unions or not unions[-1] & processors:
        return None
    return bisect_left(unions, True, key=lambda union: bool(union & processors))
