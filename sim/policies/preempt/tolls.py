"""When each idle job will be able to preempt, remembered from one pass to the next.

Hundreds of jobs may be idle and mostly none can preempt. An idle job's xfactor grows evenly and a running one's
stands still, so for every idle job there is a moment at which it can pay its toll. Who comes to run can only raise
tolls. So a remembered moment is never too late, and is looked at again only when it has come or when the keeper of
the toll makes way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf

from sim.policies.preempt.ladder import ANYBODY, NOBODY, Ladder
from sim.policies.view import RunningJob, View
from sim.workload.model import Job

EARLY = 1 - 1e-12
"""Rounds moments down, so that the last bit of a number makes none too late."""


class Tolls:
    """What the idle jobs must pay at one pass, in xfactors, and when they can.

    It remembers by rank: the `keeper` of an idle job's toll, the `moment` at which it can pay unless that is never, and
    the `height` of a running job, which is its xfactor, or inf where it may not be suspended.
    """

    def __init__(
        self,
        view: View,
        sf: float,
        *,
        height: Callable[[RunningJob], float],
        room: Callable[[], int],
        pinned: Mapping[int, int],
        steady: bool,
    ) -> None:
        """What the policy says of this view.

        `room`: how many processors are free. `pinned`: rank -> those that a job must have back.
        `steady`: does a height stand while the job is on its processors?
        """
        self._view, self._sf, self._height, self._room, self._steady = view, sf, height, room, steady
        self._pinned, self._suspended = pinned, view.suspended
        self._keepers = view.notes.setdefault("keeper", {})
        self._moments = view.notes.setdefault("moment", {})
        self._heights = view.notes.setdefault("height", {})
        self._ladder: Ladder | None = None
        self._paying: dict[int, float] = {}
        """rank -> the least xfactor with which it can preempt, as things are"""

    def outdated(self) -> list[int]:
        """The idle jobs whose tolls may have fallen since the last look, or were not known then."""
        view, keepers, heights = self._view, self._keepers, self._heights
        self._ladder = None
        self._paying = {}
        left = self._making_way()
        unknown = view.suspended.keys() & left if heights else view.suspended
        ranks = [rank for rank in unknown if rank not in keepers]
        ranks += [job.rank for job in view.queue if job.rank not in keepers]
        if left or NOBODY in keepers.values():
            gone = {NOBODY, ANYBODY, *left} if left else {NOBODY}
            ranks += [rank for rank, keeper in keepers.items() if keeper in gone]
        return ranks

    def look(self, ranks: Iterable[int]) -> None:
        """Find out what these jobs must pay as things are now, and when they can."""
        self._seat()
        view = self._view
        running, claims, job, find = view.running, view.notes.get("claim", {}), view.job, self._find
        for rank in ranks:
            if rank not in running and rank not in claims:
                find(job(rank))

    @property
    def ladder(self) -> Ladder:
        """The running jobs, until somebody is told to start, resume or leave."""
        if self._ladder is None:
            self._ladder = self._climb()
        return self._ladder

    def payers(self) -> list[tuple[float, int]]:
        """(minus the xfactor, rank) of the idle jobs that can pay now: the smallest comes first."""
        now, view, paying = self._view.now, self._view, self._paying
        due = [rank for rank, moment in self._moments.items() if moment <= now]
        self.look([rank for rank in due if rank not in paying])
        turns = [(-xfactor(view, view.job(rank)), rank) for rank in due]
        return [turn for turn in turns if -turn[0] >= paying[turn[1]]]

    def soonest(self) -> float:
        """The first moment at which somebody may be able to pay; inf if nobody ever can as things are."""
        return min(self._moments.values(), default=inf)

    def _find(self, job: Job) -> None:
        rank, view = job.rank, self._view
        pinned = self._pinned.get(rank)
        if pinned is None:
            toll, self._keepers[rank] = self.ladder.price(job.procs)
        elif (claims := view.notes.get("claim")) and any(int(c) & pinned for c in claims.values()):
            toll, self._keepers[rank] = inf, NOBODY  # somebody waits there for those who are leaving
        else:
            toll, self._keepers[rank] = self.ladder.toll(job.procs, pinned)
        self._paying[rank] = least = self._sf * toll
        if least < inf:
            ran = view.ran(rank) if rank in self._suspended else 0.0
            self._moments[rank] = EARLY * (job.submit + ran + least * job.estimate) - job.estimate
        else:
            self._moments.pop(rank, None)

    def _seat(self) -> None:
        """Note who came and who left; who runs, or has a claim, pays no toll."""
        running, heights = self._view.running, self._heights
        for rank in heights.keys() - running.keys():
            del heights[rank]
        for rank in running.keys() - heights.keys():
            heights[rank] = self._height(running[rank])
            self._forget(rank)
        for rank in self._view.notes.get("claim", ()):
            self._forget(rank)

    def _forget(self, rank: int) -> None:
        self._keepers.pop(rank, None)
        self._moments.pop(rank, None)

    def _climb(self) -> Ladder:
        """The ladder as it stands now."""
        running, heights = self._view.running, self._heights
        if not self._steady:
            heights.update((rank, self._height(run)) for rank, run in running.items())
        held = self._view.held
        rungs = [(heights[rank], -rank, run.job, held(rank)) for rank, run in running.items()]
        return Ladder(rungs, self._room())

    def _making_way(self) -> set[int]:
        """Who has left since the last look, or can be suspended although it could not be then."""
        running = self._view.running
        left = self._heights.keys() - running.keys()
        if not self._steady:
            fixed = [rank for rank, height in self._heights.items() if height == inf and rank in running]
            left |= {rank for rank in fixed if self._height(running[rank]) < inf}
        return left


def xfactor(view: View, job: Job) -> float:
    """(wait + estimate) / estimate."""
    return (view.now - job.submit - view.ran(job.rank) + job.estimate) / job.estimate
