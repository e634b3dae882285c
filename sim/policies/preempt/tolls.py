"""When each idle job will be able to preempt, remembered from one pass to the next.

Hundreds of jobs may be idle and mostly none can preempt. An idle job's xfactor grows evenly and a running one's
stands still, so for every idle job there is a moment at which it can pay its toll. Who comes to run can only raise
tolls. So a remembered moment is never too late, and is looked at again only when it has come or when the keeper of
the toll makes way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from typing import Protocol

from sim.policies.preempt.keepers import NOBODY, Keepers
from sim.policies.preempt.ladder import ANYBODY, Ladder
from sim.policies.view import RunningJob, View
from sim.workload.model import Job

EARLY = 1 - 1e-12
"""Rounds moments down, so that the last bit of a number makes none too late."""


class Terms(Protocol):
    """What a policy says of tolls."""

    @property
    def sf(self) -> float:
        """How many times larger the xfactor must be to suspend."""

    def height(self, view: View, run: RunningJob) -> float:
        """A running job's xfactor; inf if it may not be suspended."""

    def pinned(self, view: View, rank: int) -> int | None:
        """The processors that a suspended job must have back; None where it may sit on any."""

    def count_unclaimed(self, view: View) -> int:
        """How many processors are free."""


class Tolls:
    """What the idle jobs must pay, in xfactors, and when they can."""

    __slots__ = ("_is_climbed", "_keepers", "_moments", "_paying", "_terms", "ladder", "unsettled", "woken")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.ladder = Ladder()
        """The running jobs as they were at the last look"""
        self.unsettled: Collection[int] = ()
        """Those of them whose heights may be others by now"""
        self._keepers = Keepers()
        """Of the idle jobs' tolls"""
        self._moments: dict[int, float] = {}
        """rank -> when an idle job can pay its toll, unless that is never"""
        self._paying: dict[int, float] = {}
        """rank -> the least xfactor with which it can preempt, as things are"""
        self._is_climbed = False
        self.woken: float = 0
        """For when a wake-up was asked for last"""

    def copy(self) -> Tolls:
        twin = Tolls(self._terms)
        twin.ladder, twin._keepers, twin._moments = self.ladder.copy(), self._keepers.copy(), self._moments.copy()
        twin.unsettled, twin.woken = tuple(self.unsettled), self.woken
        return twin

    def outdated(self, view: View) -> list[int]:
        """The idle jobs whose tolls may have fallen since the last look, or were not known then."""
        running, of, heights = view.running, self._keepers.of, self.ladder.heights
        self._is_climbed, self._paying = False, {}
        left = heights.keys() - running.keys()
        unknown = view.suspended.keys() & left if heights else view.suspended
        for rank in left:
            self.ladder.remove(rank)
        for rank in self.unsettled:
            if heights.get(rank) == inf and self._terms.height(view, running[rank]) < inf:
                left.add(rank)
        ranks = [rank for rank in unknown if rank not in of]
        ranks += [job.rank for job in view.queue if job.rank not in of]
        return ranks + self._keepers.kept_by((NOBODY, ANYBODY, *left) if left else (NOBODY,))

    def look(self, view: View, ranks: Iterable[int]) -> None:
        """Find out what these jobs must pay as things are now, and when they can."""
        running, heights, claims = view.running, self.ladder.heights, view.notes.get("claim", ())
        if len(heights) < len(running):
            for rank in running.keys() - heights.keys():
                run = running[rank]
                self.ladder.add(self._terms.height(view, run), run.job, view.held(rank))
                self._forget(rank)
        for rank in claims:
            self._forget(rank)
        for rank in ranks:
            if rank not in running and rank not in claims:
                self._find(view, view.job(rank))

    def climb(self, view: View) -> Ladder:
        """The ladder as things are now."""
        if not self._is_climbed:
            self._is_climbed = True
            for rank in self.unsettled:
                if rank in self.ladder.heights:
                    self.ladder.raise_to(rank, self._terms.height(view, view.running[rank]))
            self.unsettled = ()
            self.ladder.stands_beside(self._terms.count_unclaimed(view))
        return self.ladder

    def payers(self, view: View) -> list[tuple[float, int]]:
        """(minus the xfactor, rank) of the idle jobs that can pay now: the smallest comes first."""
        now, paying = view.now, self._paying
        due = [rank for rank, moment in self._moments.items() if moment <= now]
        self.look(view, [rank for rank in due if rank not in paying])
        turns = [(-xfactor(view, view.job(rank)), rank) for rank in due]
        return [turn for turn in turns if -turn[0] >= paying[turn[1]]]

    def soonest(self) -> float:
        """The first moment at which somebody may be able to pay; inf if nobody ever can as things are."""
        return min(self._moments.values(), default=inf)

    def _find(self, view: View, job: Job) -> None:
        rank, ladder = job.rank, self.ladder if self._is_climbed else self.climb(view)
        pinned = self._terms.pinned(view, rank)
        if pinned is None:
            toll, keeper = ladder.price(job.procs)
        elif (claims := view.notes.get("claim")) and any(int(c) & pinned for c in claims.values()):
            toll, keeper = inf, NOBODY  # somebody waits there for those who are leaving
        else:
            toll, keeper = ladder.toll(job.procs, pinned)
        if self._keepers.of.get(rank) != keeper:
            self._keepers.keep(rank, keeper)
        self._paying[rank] = least = self._terms.sf * toll
        if least < inf:
            ran = view.ran(rank) if rank in view.suspended else 0.0
            self._moments[rank] = EARLY * (job.submit + ran + least * job.estimate) - job.estimate
        else:
            self._moments.pop(rank, None)

    def _forget(self, rank: int) -> None:
        """Who runs, or has a claim, pays no toll."""
        self._keepers.forget(rank)
        self._moments.pop(rank, None)


def xfactor(view: View, job: Job) -> float:
    """(wait + estimate) / estimate."""
    return (view.now - job.submit - view.ran(job.rank) + job.estimate) / job.estimate
