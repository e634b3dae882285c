"""The running jobs by expansion factor: what it takes to suspend enough of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import inf
from typing import TypeAlias

from sim.workload.model import Job

NOBODY, ANYBODY = -1, -2
"""Keepers of a toll that are no single job: nobody is in the way; the toll may fall with anybody that leaves."""

Rung: TypeAlias = tuple[float, int, Job, int]
"""(xfactor, minus the rank, running job, its processors). The xfactor is inf where the job may not be suspended.

Of equal xfactors the latest rank comes first.
"""

Toll: TypeAlias = tuple[float, int]
"""(the xfactor that must be outranked by the suspension factor, the rank of the job whose it is)"""


class Ladder:
    """Running jobs in the order in which they would be suspended.

    A job does not suspend one more than twice as wide as itself.
    """

    def __init__(self, rungs: Iterable[Rung], free: int) -> None:
        self.rungs = sorted(rungs)
        self._free = free
        self._prices: dict[int, Toll] = {}

    def price(self, procs: int) -> Toll:
        """What suspending enough for a new job so wide takes; inf if all are too few."""
        if procs not in self._prices:
            price = self._priced(procs)
            self._prices[procs] = (price, ANYBODY if price else NOBODY)
        return self._prices[procs]

    def toll(self, procs: int, pinned: int) -> Toll:
        """What suspending all who sit on these processors takes; inf if one may not be suspended."""
        for width, processors, job in self._from_widest:
            if procs >= width / 2:
                break
            if processors & pinned:
                return inf, job.rank
        for xfactor, _, job, processors in self._from_top:
            if processors & pinned:
                return xfactor, job.rank
        return 0, NOBODY

    def _priced(self, procs: int) -> float:
        needed = procs - self._free
        if needed <= 0:
            return 0
        for xfactor, width in self._widths:
            if procs >= width / 2:
                needed -= width
                if needed <= 0:
                    return xfactor
        return inf

    @cached_property
    def _from_top(self) -> list[Rung]:
        return self.rungs[::-1]

    @cached_property
    def _from_widest(self) -> list[tuple[int, int, Job]]:
        return sorted(((job.procs, processors, job) for _, _, job, processors in self.rungs), reverse=True)

    @cached_property
    def _widths(self) -> list[tuple[float, int]]:
        return [(xfactor, job.procs) for xfactor, _, job, _ in self.rungs]
