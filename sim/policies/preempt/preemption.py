"""What all preemptive policies share: who may run where, whom to suspend, on which processors (K chapter 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sim.decisions.decisions import Decision, Keep, Resume, Start, Suspend
from sim.decisions.obstacles import TooFewFree, WaitsForOwn
from sim.decisions.reasons import Claimed, Fits, OwnFree, Preempts
from sim.decisions.sentences import Reason
from sim.machine.processors import lowest
from sim.policies.orders import lot
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.view import View
from sim.workload.model import Job

LEAST_MEMORY, MOST_MEMORY = 100, 1000
"""MB a processor (K section 4.2)."""


@dataclass(frozen=True)
class Preemptive(Policy):
    """A policy that suspends jobs; a suspended job goes on on exactly its processors.

    With memory=yes a suspended job keeps its processors busy while its memory, U(100, 1000) MB a processor, is
    written at `bandwidth`, and after it is resumed makes no progress while that is read. What a job gets by
    suspending others is then claimed for it until those have left.
    """

    memory: bool = parameter(False, "does suspending and resuming cost time for the job's memory? (K section 4.2)")
    bandwidth: float = parameter(2.0, "MB a second at which a processor writes and reads memory", low=0.001)
    seed: int = parameter(0, "for the memory sizes that are drawn by lot", low=0)

    suspends = True
    plans = "nobody"
    lets_pass = False

    def weighs_xfactors(self) -> bool:
        return True

    def overhead(self, job: Job) -> float:
        """Seconds that suspending the job takes, and resuming it as long again."""
        if not self.memory:
            return 0
        return (LEAST_MEMORY + (MOST_MEMORY - LEAST_MEMORY) * lot(self.seed, job.rank)) / self.bandwidth

    def go_on(
        self, view: View, first: Callable[[Job], float], suspended: Iterable[int] | None = None
    ) -> Iterator[Decision]:
        """Idle jobs start or resume where there is room, the largest `first` before the others, then by rank.

        suspended: the ranks of the suspended jobs for which there may be room, where the policy knows.
        """
        takers = self._takers(view, view.suspended if suspended is None else suspended)
        takers.sort(key=lambda job: (-first(job), job.rank))
        for job in takers:
            yield from self.take_room(view, job)
        if view.curious:
            for job in self.idle(view):
                yield Keep(job, self._obstacle(view, job))

    def _takers(self, view: View, ranks: Iterable[int]) -> list[Job]:
        """The idle jobs for each of which there is room; hundreds may be idle, so nothing is asked twice."""
        free = self.unclaimed(view)
        if not free:
            return []
        busy, count, claims = ~free, free.bit_count(), view.notes.get("claim", {})
        ranks = [rank for rank in ranks if not view.suspended.get(rank, busy) & busy]
        takers = [view.job(rank) for rank in ranks if rank not in view.running]
        takers += [job for job in view.queue if job.procs <= count]
        return [job for job in takers if job.rank not in claims] if claims else takers

    def take_room(self, view: View, job: Job) -> Iterator[Decision]:
        """The job starts or resumes if there is room for it."""
        if not self.fits(view, job):
            return
        if job.rank in view.suspended:
            yield Resume(job, OwnFree(), self.overhead(job))
        elif view.notes.get("claim"):
            yield Start(job, Fits(view.free), on=lowest(self.unclaimed(view), job.procs))
        else:
            yield Start(job, Fits(view.free))

    def fits(self, view: View, job: Job) -> bool:
        """Is there room for the job: any free processors for a new one, its own for a suspended one?"""
        pinned = view.suspended.get(job.rank)
        if pinned is not None:
            return not pinned & ~self.unclaimed(view)
        return job.procs <= self.count_unclaimed(view)

    def preempt(self, view: View, job: Job, victims: list[Job], reasons: dict[int, Reason]) -> Iterator[Decision]:
        """Suspend the victims; `job` gets free processors first, then theirs, the lowest numbers first."""
        pinned = view.suspended.get(job.rank)
        chosen = pinned
        if chosen is None:
            free = self.unclaimed(view)
            theirs = 0
            for victim in victims:
                theirs |= view.held(victim.rank)
            chosen = free | lowest(theirs, job.procs - free.bit_count())
        for victim in victims:
            yield Suspend(victim, reasons[victim.rank], self.overhead(victim))
        if chosen & ~view.free_set:
            view.notes.setdefault("claim", {})[job.rank] = chosen
        elif pinned is None:
            yield Start(job, Preempts(tuple(victims)), on=chosen)
        else:
            yield Resume(job, Preempts(tuple(victims)), self.overhead(job))

    def claims_come_true(self, view: View) -> Iterator[Decision]:
        """The jobs whose victims have left take their place."""
        claims = view.notes.setdefault("claim", {})
        for rank, processors in list(claims.items()):
            chosen, job = int(processors), view.job(rank)
            if chosen & ~view.free_set:
                continue
            del claims[rank]
            if rank in view.suspended:
                yield Resume(job, Claimed(), self.overhead(job))
            else:
                yield Start(job, Claimed(), on=chosen)

    def idle(self, view: View) -> list[Job]:
        """Waiting and suspended jobs, without those that have a claim or are still leaving."""
        jobs = view.queue
        jobs += [view.job(rank) for rank in view.suspended if rank not in view.running]
        claims = view.notes.get("claim")
        return [job for job in jobs if job.rank not in claims] if claims else jobs

    def _obstacle(self, view: View, job: Job) -> Reason:
        pinned = view.suspended.get(job.rank)
        if pinned is None:
            return TooFewFree(self.count_unclaimed(view))
        return WaitsForOwn((pinned & ~view.free_set).bit_count())

    def unclaimed(self, view: View) -> int:
        """The free processors that nobody has a claim on."""
        free = view.free_set
        for claimed in view.notes.get("claim", {}).values():
            free &= ~int(claimed)
        return free

    def count_unclaimed(self, view: View) -> int:
        """How many they are."""
        return self.unclaimed(view).bit_count() if view.notes.get("claim") else view.free


def enough(needed: int, candidates: Iterable[Job]) -> list[Job] | None:
    """Victims in the order given until `needed` processors are found, without those that prove unneeded.

    None where all of them are too few.
    """
    taken: list[Job] = []
    found = 0
    for job in candidates:
        if found >= needed:
            break
        taken.append(job)
        found += job.procs
    if found < needed:
        return None
    kept = []
    for job in taken:
        if found - job.procs >= needed:
            found -= job.procs
        else:
            kept.append(job)
    return kept
