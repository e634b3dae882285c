"""Earliest time at which each idle job may preempt, updated incrementally.

Hundreds of jobs may be suspended, and mostly none can preempt. An idle job's xfactor grows steadily and a running one's
is constant, so there is a moment at which each idle job can pay its toll. No toll is below 1, where every xfactor
begins, and newly running jobs only raise tolls. So a known moment is never too late. It is recomputed only when it is
the next one, or when the keeper of the toll has left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import Any, NamedTuple, Protocol, TypeAlias

from sim.machine.moment import MOMENT, whole
from sim.policies.preempt.keepers import NOBODY, Keepers
from sim.policies.preempt.ladder import Ladder, Rung
from sim.policies.view import RunningJob, View
from sim.workload.model import Job

EARLY = 1 - 1e-12
"""Rounds moments down, so that the last bit of a number makes none too late."""
_STALE = 4
"""Length of the heap of moments, in multiples of what is needed, at which it is rebuilt."""


_Entry: TypeAlias = tuple[float, int, float]
"""(moment, rank, the xfactor that the job must have)"""


class Terms(Protocol):
    """Parameters of a policy that determine tolls."""

    @property
    def sf(self) -> float:
        """Return how many times larger the xfactor must be to suspend."""

    @property
    def restart(self) -> str:
        """Return processors on which a suspended job may resume: its `own`, or `any`."""

    def height(self, view: View, run: RunningJob) -> float:
        """Return a running job's xfactor; inf if it may not be suspended."""

    def count_unclaimed(self, view: View) -> int:
        """Return how many processors are free."""

    def roomy(self, view: View) -> list[Job]:
        """Return the idle jobs for each of which there is room."""

    def anywhere(self, view: View) -> list[Job]:
        """Return the idle jobs that may sit on any processors."""


class Known(NamedTuple):
    """State of the tolls as plain values."""

    heights: Mapping[int, float]
    """rank -> xfactor, or inf, of the running jobs as they were at the last look"""
    keepers: Mapping[int, int]
    """Idle job -> job whose toll it pays, if known"""
    moments: Mapping[int, float]
    """Moment at which each can pay, or earlier; missing for jobs that can never pay"""
    stood: tuple[int, int, int] | None
    first: float


class Tolls:
    """Xfactors that idle jobs must exceed, and when they will; for jobs bound to their own processors kept between
    passes.
    """

    __slots__ = ("_keepers", "_moments", "_queue", "_terms", "first", "ladder", "moving", "stood", "unsettled")

    def __init__(self, terms: Terms, moving: bool = False) -> None:
        self._terms = terms
        self.ladder = Ladder()
        """The running jobs as they were at the last look"""
        self.unsettled: Collection[int] = ()
        """Running jobs whose xfactors may have changed"""
        self.moving = moving
        """True if suspending and resuming take time, so that running jobs may become possible victims"""
        self._keepers = Keepers()
        """Keepers of the known tolls"""
        self._moments: dict[int, float] = {}
        """rank -> when the job can pay its toll, or earlier"""
        self._queue: list[_Entry] = []
        """Heap of moments, including outdated ones"""
        self.stood: tuple[int, int, int] | None = None
        """Free processors, and numbers of running and suspended jobs, after the last pass; None if these do
        not suffice
        """
        self.first: float = inf
        """First moment at the last pass, before the expected end of a running job"""

    def copy(self) -> Tolls:
        twin = Tolls(self._terms, self.moving)
        twin.ladder, twin._keepers, twin._moments = self.ladder.copy(), self._keepers.copy(), self._moments.copy()
        twin._queue, twin.unsettled = self._queue.copy(), tuple(self.unsettled)
        twin.stood, twin.first = self.stood, self.first
        return twin

    def told(self) -> Known | None:
        """Return the state as plain values, or None if it may change by itself."""
        if self.moving or self.unsettled:
            return None
        moments = {rank: moment for rank, moment in self._moments.items() if moment < inf}
        return Known(self.ladder.heights, self._keepers.of, moments, self.stood, self.first)

    @classmethod
    def knowing(cls, terms: Terms, known: Known, rungs: Iterable[Rung], free: int) -> Tolls:
        """Return the tolls restored from a state, with these running jobs and `free` processors."""
        tolls = cls(terms)
        tolls.ladder = Ladder(rungs, free)
        for rank, keeper in known.keepers.items():
            tolls._keepers.keep(rank, keeper)
        tolls._moments = {**dict.fromkeys(known.keepers, inf), **known.moments}
        tolls._queue = sorted((moment, rank, tolls._terms.sf) for rank, moment in known.moments.items())
        tolls.stood, tolls.first = known.stood, known.first
        return tolls

    def look(self, view: View) -> Ladder:
        """Return the ladder as things are now; whose tolls may have fallen is known then."""
        running, suspended, ladder, terms = view.running, view.suspended, self.ladder, self._terms
        heights = ladder.heights
        hopeful = [] if heights else [rank for rank in suspended if rank not in running]
        left = self._left(view)
        for rank in left:
            ladder.remove(rank)
            if rank in suspended:
                hopeful.append(rank)
        if len(heights) < len(running):
            for rank in running.keys() - heights.keys():
                run = running[rank]
                ladder.add(terms.height(view, run), run.job, view.held(rank))
                self._forget(rank)
                if not run.runs:
                    self.moving = True
        fallen = [NOBODY, *left]
        for rank in running if self.moving else self.unsettled:
            was = heights.get(rank)
            if was is not None and (height := terms.height(view, running[rank])) != was:
                ladder.raise_to(rank, height)
                if height < was:
                    fallen.append(rank)
        self.unsettled = ()
        ladder.stands_beside(terms.count_unclaimed(view))
        hopeful += self._keepers.release(fallen)
        if hopeful and terms.restart == "own":
            self._hope(view, hopeful)
        return ladder

    def _left(self, view: View) -> Collection[int]:
        """Return the ranks that have stopped running, mostly by completion; starts are appended last."""
        running, heights = view.running, self.ladder.heights
        if not self.moving:
            left = [job.rank for job in view.completed if job.rank in heights]
            if len(heights) - len(left) == len(running) and (not running or [*running][-1] in heights):
                return left
        return heights.keys() - running.keys()

    def payers(self, view: View) -> list[tuple[float, int]]:
        """Return (minus the xfactor, rank) of the idle jobs that can pay now or need not: the smallest comes first."""
        ladder, now, sf, queue = self.look(view), view.now, self._terms.sf, self._queue
        ranks = {job.rank for job in self._terms.roomy(view)}
        for job in self._terms.anywhere(view):
            low = payable_from(job.submit, sf, job.estimate)
            if low <= now and view.in_time(job) and xfactor(view, job) >= sf * ladder.price(job.procs):
                ranks.add(job.rank)
        due = []
        while queue and queue[0][0] <= now:
            moment, rank, _ = heappop(queue)
            if self._moments.get(rank) == moment and (entry := self._find(view, rank)):
                due.append(entry)
                if entry[0] <= now and xfactor(view, view.job(rank)) >= entry[2]:
                    ranks.add(rank)
        for entry in due:
            heappush(queue, entry)
        return [(-xfactor(view, view.job(rank)), rank) for rank in ranks]

    def soonest(self, view: View, soon: float, before: float) -> float:
        """Return a moment before which no job can pay, if it is before `before`; else inf. Any moment up to `soon` will
        do.
        """
        self.look(view)
        queue, first = self._queue, before
        while queue and queue[0][0] < first:
            moment, rank, _ = queue[0]
            if self._moments.get(rank) != moment:
                heappop(queue)
            elif rank in self._keepers.of:
                first = moment
            elif entry := self._find(view, rank):
                heapreplace(queue, entry)
            else:
                heappop(queue)
        first = self.soonest_of(view, self._terms.anywhere(view), soon, first, True)
        return first if first < before else inf

    def soonest_of(self, view: View, jobs: Iterable[Job], soon: float, first: float, looked: bool = False) -> float:
        """Return the same for these jobs, which may sit on any processors; `first` if none of them can by then."""
        sf, ladder = self._terms.sf, self.ladder
        for job in jobs:
            if first <= soon:
                break
            if payable_from(job.submit, sf, job.estimate) < first and view.in_time(job):
                if not looked:
                    self.look(view)
                    looked = True
                first = min(first, self._moment(view, job, sf * ladder.price(job.procs)))
        return first

    def _find(self, view: View, rank: int) -> _Entry | None:
        """Compute the suspended job's toll and when it can pay, or None."""
        claims, own = view.notes.get("claim", ()), view.suspended.get(rank)
        if own is None or rank in claims:
            self._forget(rank)
            return None
        job = view.job(rank)
        if not view.in_time(job) or own & ~view.there:
            toll, keeper = inf, NOBODY
        elif claims and any(int(c) & own for c in claims.values()):
            toll, keeper = inf, NOBODY  # a job with a claim waits there for its victims
        else:
            toll, keeper = self.ladder.toll(job.procs, own)
        self._keepers.keep(rank, keeper)
        least = self._terms.sf * toll
        self._moments[rank] = moment = self._moment(view, job, least)
        return (moment, rank, least) if moment < inf else None

    def _hope(self, view: View, ranks: Iterable[int]) -> None:
        """Reset the tolls of these suspended jobs to the least possible."""
        sf, moments, queue = self._terms.sf, self._moments, self._queue
        for rank in ranks:
            moment = self._moment(view, view.job(rank), sf)
            if moments.get(rank) != moment:
                moments[rank] = moment
                heappush(queue, (moment, rank, sf))
        if len(queue) > _STALE * (len(moments) + 8):
            queue[:] = sorted({entry for entry in queue if moments.get(entry[1]) == entry[0]})

    def _moment(self, view: View, job: Job, least: float) -> float:
        """Return when the idle job's xfactor is so large."""
        moment: float = payable_from(job.submit + view.ran(job.rank), least, job.estimate)
        return moment

    def _forget(self, rank: int) -> None:
        """Forget the job, because it runs or has a claim."""
        self._keepers.forget(rank)
        self._moments.pop(rank, None)


def payable_from(since: Any, least: float, estimate: Any) -> Any:
    """Return when an idle job's xfactor reaches `least`, or a little before: a number, or a column of many.

    since: its submit plus the time that it has run
    """
    return EARLY * (since + least * estimate) - estimate - MOMENT


def xfactor(view: View, job: Job) -> float:
    """Return (wait + estimate) / estimate."""
    return (whole(view.now - job.submit - view.ran(job.rank)) + job.estimate) / job.estimate
