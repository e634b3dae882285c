"""Base of the preemptive policies: on which processors a job may run, and which jobs to suspend for it (Kettimuthu
chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import inf
from operator import or_
from typing import TYPE_CHECKING, Literal

import numpy as np

from sim.decisions.reasons import Claimed, Fits, OwnFree, Preempts
from sim.decisions.reasons_to_wait import (
    AwaitsVictims,
    ClaimTaken,
    MachineGoesDown,
    OwnClaimed,
    TooFewFree,
    waits_for_own,
)
from sim.decisions.sentences import Reason
from sim.machine.processors import first_of, free_of_all
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment
    from sim.engine.stay import Stay

LEAST_MEMORY, MOST_MEMORY = 100, 1000
"""Smallest and largest memory of a job in MB (Kettimuthu section 4.1)"""


@dataclass(frozen=True)
class Preemptive(Policy):
    """Policy that suspends jobs; a suspended job resumes on exactly its processors, unless restart=any.

    With seats=apart a new job takes the lowest-numbered free processors that no suspended job needs, then the lowest of
    the others; so few jobs take a suspended job's processors. With restart=any a suspended job resumes, and suspends
    others for that, wherever a new one could start, but takes its own processors first.

    With memory=yes a suspended job keeps its processors busy while its memory, U(100, 1000) MB spread evenly over them,
    is written at `bandwidth`. After its resumption it makes no progress while the memory is read. Processors that a job
    gets by suspending others are claimed for it until the victims have left.
    """

    seats: Literal["apart", "lowest"] = parameter(
        "apart",
        "free processors a new job takes: apart = first those no suspended job needs; lowest = lowest-numbered",
        choices=("apart", "lowest"),
    )
    restart: Literal["own", "any"] = parameter(
        "own",
        "where a suspended job may go on: on its own processors (K section 3.1) or on any",
        choices=("own", "any"),
    )
    memory: bool = parameter(False, "does suspending and resuming cost time for the job's memory? (K section 4.1)")
    bandwidth: float = parameter(2.0, "MB a second at which a processor writes and reads memory", low=0.001)
    seed: int = parameter(0, "seed of the random memory sizes", low=0)

    suspends = True
    places = True
    on_nodes = False
    plans = "nobody"
    lets_pass = False

    def weighs_xfactors(self) -> bool:
        return True

    def overhead(self, job: Job) -> float:
        """Return the seconds that suspending the job takes, to write its memory; resuming takes as long."""
        if not self.memory:
            return 0
        memory = LEAST_MEMORY + (MOST_MEMORY - LEAST_MEMORY) * random_number(self.seed, job.rank)
        return memory / (job.procs * self.bandwidth)

    def pinned(self, view: Moment, rank: int) -> int | None:
        """Return the processors, as bits, on which a suspended job must resume; None if it may use any."""
        return view.suspended.get(rank) if self.restart == "own" else None

    def keep_idle(self, now: Moment) -> None:
        if now.curious:
            free, there, suspended = now.free_set, now.there, now.suspended
            lacks = TooFewFree(self.count_unclaimed(now))
            is_plain = self.restart == "own" and now.closes == inf and not now.notes.get("claim")
            for job in self.idle(now):
                own = suspended.get(job.rank) if is_plain else 0  # mostly the obstacle is one of these two
                because = lacks if own is None else waits_for_own(own, free, there)
                now.keep(job, because or self.obstacle(now, job))

    def keep_suspended(self, now: Moment) -> None:
        """Record why each suspended job without a claim waits, if the run records reasons."""
        if now.curious:
            for job in self.idle(now):
                if job.rank in now.suspended:
                    now.keep(job, self.obstacle(now, job))

    def runs(self, view: Moment) -> list[Stay]:
        return [run for run in view.running.values() if run.runs]

    def newcomers(self, view: Moment) -> list[Job]:
        queue, claims = view.queue, view.notes.get("claim")
        return [job for job in queue if job.rank not in claims] if claims else queue

    def roomy(self, view: Moment) -> list[Job]:
        """Return the idle jobs that fit now if no other idle job is started."""
        free = self.unclaimed(view)
        takers: list[Job] = []
        if not free:
            return takers
        if self.restart == "own" and view.suspended:
            claims = view.notes.get("claim", ())
            takers = [job for job in view.resumable(free) if job.rank not in claims]
        count = free.bit_count()
        takers += [job for job in self.anywhere(view) if job.procs <= count]
        return self._timely(view, takers)

    def _timely(self, view: Moment, jobs: list[Job]) -> list[Job]:
        """Return those of the jobs that would end before maintenance."""
        return jobs if view.closes == inf else list(filter(view.in_time, jobs))

    def anywhere(self, view: Moment) -> list[Job]:
        """Return the idle jobs that may run on any processors."""
        return self.idle(view) if self.restart == "any" else self.newcomers(view)

    def take_room(self, now: Moment, job: Job) -> None:
        if self.pinned(now, job.rank) is None:
            self._begin(now, job, Fits(now.free), self._seat(now, job))
        else:
            now.resume(job, OwnFree(), self.overhead(job))

    def _begin(self, now: Moment, job: Job, because: Reason, on: int) -> None:
        own = now.suspended.get(job.rank)
        if own is None:
            now.begin(job, because, on)
        else:
            now.resume(job, because, self.overhead(job), None if on == own else on)

    def fits(self, view: Moment, job: Job) -> bool:
        if not view.in_time(job):
            return False
        pinned = self.pinned(view, job.rank)
        if pinned is not None:
            return not pinned & ~self.unclaimed(view)
        return job.procs <= self.count_unclaimed(view)

    def _seat(self, view: Moment, job: Job) -> int:
        free, suspended = self.unclaimed(view), view.suspended
        own = free & suspended.get(job.rank, 0)
        apart = free_of_all(free, suspended.values()) if self.seats == "apart" else 0
        return first_of(job.procs, own, apart, free)

    def victims_among(self, view: Moment, job: Job, candidates: Iterable[Job]) -> list[Job]:
        """Return the running jobs to suspend for `job`, so that it has enough processors; none if all candidates
        together have too few.

        They are taken from the candidates in this order; jobs that turn out not to be needed are left out.
        """
        return (enough(job.procs - self.count_unclaimed(view), candidates) if view.in_time(job) else None) or []

    def take_over(self, now: Moment, job: Job, victims: list[Job]) -> None:
        """Start or resume the job, for which the victims have been suspended.

        The job takes free processors first and then the victims', lowest numbers first; a job that must resume on its
        own processors takes these. If victims are still leaving some of them, the job gets a claim and starts later.
        """
        chosen = self.pinned(now, job.rank)
        if chosen is None:
            theirs = reduce(or_, (now.suspended[victim.rank] for victim in victims), 0)
            own = theirs & now.suspended.get(job.rank, 0)
            chosen = first_of(job.procs, self.unclaimed(now) & ~theirs, own, theirs)
        if chosen & ~now.free_set:
            now.notes.setdefault("claim", {})[job.rank] = chosen
            now.notes.setdefault("victims", {})[job.rank] = tuple(victim.rank for victim in victims)
            self._await_victims(now, job, chosen)
        else:
            self._begin(now, job, Preempts(tuple(victims)), chosen)

    def claims_come_true(self, now: Moment) -> None:
        """Start or resume each job whose claim (processors that suspended jobs vacate for it) is free now."""
        claims = now.notes.get("claim")
        for rank, processors in list(claims.items()) if claims else ():
            chosen, job = int(processors), now.job(rank)
            if rank in now.running or chosen & ~now.there or not now.in_time(job):
                self._give_up(now, rank)
            elif chosen & ~now.free_set:
                self._await_victims(now, job, chosen)
            else:
                self._give_up(now, rank)
                self._begin(now, job, Claimed(), chosen)

    def _give_up(self, view: Moment, rank: int) -> None:
        del view.notes["claim"][rank], view.notes["victims"][rank]

    def _await_victims(self, now: Moment, job: Job, claimed: int) -> None:
        """Record whether a victim still leaves the claimed processors or another job has started there."""
        if now.curious:
            there = [stint.job for rank, stint in now.running.items() if now.held(rank) & claimed]
            victims = now.notes["victims"][job.rank]
            leaving = tuple(each for each in there if each.rank in victims and each.rank in now.suspended)
            now.keep(job, AwaitsVictims(leaving) if leaving else ClaimTaken(tuple(there)))

    def idle(self, view: Moment) -> list[Job]:
        """Return the idle jobs: all waiting jobs, and the suspended jobs that have left their processors. Jobs with a
        claim (processors that are being vacated for them) are left out.
        """
        jobs, running, job_of = view.queue, view.running, view.job
        jobs += [job_of(rank) for rank in view.suspended if rank not in running]
        claims = view.notes.get("claim")
        return [job for job in jobs if job.rank not in claims] if claims else jobs

    def obstacle(self, view: Moment, job: Job) -> Reason:
        pinned = self.pinned(view, job.rank)
        if view.closes < inf and not view.in_time(job):
            return MachineGoesDown(view.closes, view.now + view.remaining_estimate(job.rank))
        if pinned is None:
            return TooFewFree(self.count_unclaimed(view))
        lacks = waits_for_own(pinned, view.free_set, view.there)
        return lacks or OwnClaimed((pinned & ~self.unclaimed(view)).bit_count())

    def unclaimed(self, view: Moment) -> int:
        """Return the free processors, as bits, that are not claimed by a job for which others were suspended."""
        free, claims = view.free_set, view.notes.get("claim")
        if claims:
            for claimed in claims.values():
                free &= ~int(claimed)
        return free

    def count_unclaimed(self, view: Moment) -> int:
        return self.unclaimed(view).bit_count() if view.notes.get("claim") else view.free


def random_number(seed: int, rank: int) -> float:
    block, index = divmod(rank, _BLOCK)
    return _random_block(seed, block)[index]


_BLOCK = 4096


@lru_cache(maxsize=256)
def _random_block(seed: int, block: int) -> list[float]:
    block_of_numbers: list[float] = np.random.default_rng(seed).random((block + 1) * _BLOCK)[-_BLOCK:].tolist()
    return block_of_numbers


def enough(needed: int, candidates: Iterable[Job]) -> list[Job] | None:
    """Return victims with at least `needed` processors in total, taken from the candidates in this order; None if all
    candidates together have too few.

    Candidates that turn out not to be needed are left out.
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
