"""The running jobs by expansion factor: what it takes to suspend enough of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import inf
from typing import NamedTuple

from sim.workload.model import Job

NOBODY, ANYBODY = -1, -2
"""Keepers of a toll that are no single job: nobody is in the way; the toll may fall with anybody that leaves."""


class Rung(NamedTuple):
    """A running job, with its xfactor; inf stands for a job that may not be suspended."""

    xfactor: float
    latest: int
    """Minus the rank: of equal xfactors the latest rank comes first."""
    job: Job
    processors: int


class Toll(NamedTuple):
    """The xfactor that must be outranked, by the suspension factor, and the rank of the job whose it is."""

    xfactor: float
    keeper: int


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
            self._prices[procs] = Toll(price, ANYBODY if price else NOBODY)
        return self._prices[procs]

    def toll(self, procs: int, pinned: int) -> Toll:
        """What suspending all who sit on these processors takes; inf if one may not be suspended."""
        for rung in self._from_widest:
            if procs >= rung.job.procs / 2:
                break
            if rung.processors & pinned:
                return Toll(inf, rung.job.rank)
        for rung in self._from_top:
            if rung.processors & pinned:
                return Toll(rung.xfactor, rung.job.rank)
        return Toll(0, NOBODY)

    def sitting_on(self, processors: int) -> list[Job]:
        """The running jobs that hold any of these processors, as they would be suspended."""
        return [rung.job for rung in self.rungs if rung.processors & processors]

    @cached_property
    def _from_top(self) -> list[Rung]:
        return self.rungs[::-1]

    @cached_property
    def _from_widest(self) -> list[Rung]:
        return sorted(self.rungs, key=lambda rung: -rung.job.procs)

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
