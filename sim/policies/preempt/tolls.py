"""Earliest time at which each idle job may preempt, updated incrementally.

Hundreds of jobs may be suspended, and mostly none can preempt. An idle job may suspend running jobs if its xfactor is
at least `sf` (suspension factor) times each of theirs. The largest of theirs is its toll, which it can pay when its
xfactor is at least `sf` times the toll. An idle job's xfactor grows steadily, and a running job's is constant. So the
time from which an idle job can pay can be computed. Newly running jobs only raise tolls, so a known time is never too
late. It is computed again only when it is the next to come, or when the running job with the toll's xfactor (the
keeper) has left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush, heapreplace
from math import inf
from typing import NamedTuple, Protocol, TypeAlias

from sim.policies.preempt.keepers import NOBODY, Keepers
from sim.policies.preempt.ladder import Ladder, Rung
from sim.policies.preempt.xfactors import expansion, payable_from
from sim.policies.view import RunningJob, View
from sim.workload.model import Job

_STALE = 4
"""Factor by which the heap of times may be longer than necessary; beyond that it is rebuilt"""


_Entry: TypeAlias = tuple[float, int, float]
"""Entry of the heap: (time, rank of the idle job, xfactor that it has at this time)"""


class Terms(Protocol):
    """Parameters and methods of a policy that are needed to compute tolls (see the module)."""

    @property
    def sf(self) -> float:
        """Return the suspension factor: how many times larger the xfactor of the suspending job must be."""

    @property
    def restart(self) -> str:
        """Return on which processors a suspended job may resume: "own" for its own, or "any"."""

    def height(self, now: View, run: RunningJob) -> float:
        """Return a running job's expansion factor, of which an idle job needs `sf` times as much to preempt
        it; inf if the policy protects the running job.
        """

    def count_unclaimed(self, view: View) -> int:
        """Return the number of free processors that are not claimed by a job for which others were suspended."""

    def roomy(self, view: View) -> list[Job]:
        """Return the idle jobs that fit now if no other idle job is started."""

    def anywhere(self, view: View) -> list[Job]:
        """Return the idle jobs that may use any processors."""


class Known(NamedTuple):
    """Tolls of idle jobs as plain values, the form in which the engine and its compiled loop exchange them."""

    heights: Mapping[int, float]
    """Mapping from the rank of each running job to its xfactor at the last update, which is inf if the job may not be
    suspended
    """
    keepers: Mapping[int, int]
    """Mapping from the rank of an idle job to the rank of its keeper, the running job that determines its toll; idle
    jobs without a known keeper are missing
    """
    moments: Mapping[int, float]
    """Mapping from the rank of an idle job to the time from which it can pay its toll, or slightly earlier; jobs that
    never can are missing
    """
    stood: tuple[int, int, int] | None
    first: float


class Tolls:
    """Tolls of idle jobs, and the times from which the jobs can pay them.

    Tolls of jobs that must resume on their own processors are kept between passes; the others are computed at each
    pass.
    """

    __slots__ = (
        "_keepers", "_moments", "_queue", "_terms", "first", "idle", "ladder", "last", "moving", "seated", "stood",
        "unsettled",
    )  # fmt: skip

    def __init__(self, terms: Terms, moving: bool = False) -> None:
        self._terms = terms
        self.ladder = Ladder()
        """Running jobs as of the last update, sorted by xfactor"""
        self.unsettled: Collection[int] = ()
        """Ranks of running jobs whose xfactors may have changed"""
        self.moving = moving
        """True if suspending and resuming take time. Then a running job can become a possible victim when its
        resumption is complete, although no event happens
        """
        self._keepers = Keepers()
        """For each idle job with a known toll: its keeper, the running job that determines the toll"""
        self._moments: dict[int, float] = {}
        """Mapping from the rank of an idle job to the time from which it can pay its toll, or earlier; inf if it never
        does
        """
        self._queue: list[_Entry] = []
        """Heap of the times from which jobs can pay their tolls; outdated times are skipped when they are taken out"""
        self.stood: tuple[int, int, int] | None = None
        """(Free processors as bits, number of running jobs, number of suspended jobs) after the last pass; None if
        these do not show every change
        """
        self.idle: list[Job] = []
        """Jobs that were idle before the turns at this tick (time to preempt), if the run records reasons"""
        self.seated: set[int] = set()
        """Ranks of the jobs that get no further turn at this tick (time to preempt): they were running when the turns
        began, or have had their turn
        """
        self.last: tuple[float, int] = -inf, -1
        """(Minus the xfactor, rank) of the job that had the last turn at this tick; (-inf, -1) before the first turn"""
        self.first: float = inf
        """First time from which a job can pay its toll, as found in the last pass; inf if a running job's expected end
        comes first
        """

    def copy(self) -> Tolls:
        twin = Tolls(self._terms, self.moving)
        twin.ladder, twin._keepers, twin._moments = self.ladder.copy(), self._keepers.copy(), self._moments.copy()
        twin._queue, twin.unsettled = self._queue.copy(), tuple(self.unsettled)
        twin.stood, twin.first = self.stood, self.first
        return twin

    def told(self) -> Known | None:
        """Return the tolls as plain values; None if the xfactor of a running job may have changed, or may change
        without an event.
        """
        if self.moving or self.unsettled:
            return None
        moments = {rank: moment for rank, moment in self._moments.items() if moment < inf}
        return Known(self.ladder.heights, self._keepers.of, moments, self.stood, self.first)

    @classmethod
    def knowing(cls, terms: Terms, known: Known, rungs: Iterable[Rung], free: int) -> Tolls:
        """Return the tolls restored from plain values; `rungs` are the running jobs as entries of a `Ladder` (sorted by
        xfactor), `free` is the number of free processors.
        """
        tolls = cls(terms)
        tolls.ladder = Ladder(rungs, free)
        for rank, keeper in known.keepers.items():
            tolls._keepers.keep(rank, keeper)
        tolls._moments = {**dict.fromkeys(known.keepers, inf), **known.moments}
        tolls._queue = sorted((moment, rank, tolls._terms.sf) for rank, moment in known.moments.items())
        tolls.stood, tolls.first = known.stood, known.first
        return tolls

    def look(self, view: View) -> Ladder:
        """Update the record of running jobs and return it; forget the tolls that may have fallen since the last
        pass.
        """
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
                ladder.add(_height(terms, view, run), run.job, view.held(rank))
                self._forget(rank)
                if not run.runs:
                    self.moving = True
        fallen = [NOBODY, *left]
        for rank in running if self.moving else self.unsettled:
            was = heights.get(rank)
            if was is not None and (height := _height(terms, view, running[rank])) != was:
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
        """Return the ranks of the jobs that stopped running since the last pass, mostly by completion."""
        running, heights = view.running, self.ladder.heights
        if not self.moving:
            left = [job.rank for job in view.completed if job.rank in heights]
            if len(heights) - len(left) == len(running) and (not running or [*running][-1] in heights):
                return left
        return heights.keys() - running.keys()

    def payers(self, view: View) -> list[tuple[float, int]]:
        """Return (minus the xfactor, rank) of the idle jobs that may preempt now, the largest xfactor first."""
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
        """Return a time before which no idle job can pay its toll, or inf if that time is `before` or later.

        The result need not be exact if it is at most `soon`, because the caller asks again at that time.
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
        """Return a time before which none of the idle jobs `jobs` can pay its toll, or `first` if that time is `first`
        or later.

        The jobs may run on any processors. The result need not be exact if it is at most `soon`. `looked` is True if
        `look` was already called at this pass.
        """
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
        """Return the heap entry of a suspended job with the time from which it can pay its toll; None if it never
        does.
        """
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
        """Record for these suspended jobs the earliest possible time to preempt, as if their tolls were the smallest
        possible, because running jobs have left. The true time is computed when this one is the next to come.
        """
        sf, moments, queue = self._terms.sf, self._moments, self._queue
        for rank in ranks:
            moment = self._moment(view, view.job(rank), sf)
            if moments.get(rank) != moment:
                moments[rank] = moment
                heappush(queue, (moment, rank, sf))
        if len(queue) > _STALE * (len(moments) + 8):
            queue[:] = sorted({entry for entry in queue if moments.get(entry[1]) == entry[0]})

    def _moment(self, view: View, job: Job, least: float) -> float:
        """Return the time at which the idle job's xfactor reaches the value `least`."""
        return payable_from(job.submit + view.ran(job.rank), least, job.estimate)

    def _forget(self, rank: int) -> None:
        """Remove the job from the record of tolls, because it runs, or because processors are being vacated for it."""
        self._keepers.forget(rank)
        self._moments.pop(rank, None)


def _height(terms: Terms, view: View, run: RunningJob) -> float:
    """Return the running job's xfactor; inf if it may not be suspended."""
    return terms.height(view, run) if run.runs else inf


def xfactor(view: View, job: Job) -> float:
    """Return the job's expansion factor now: (wait + estimate) / estimate."""
    return expansion(view.now - job.submit - view.ran(job.rank), job.estimate)
