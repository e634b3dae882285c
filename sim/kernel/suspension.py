"""Suspended jobs in the fast loop: what policies that suspend jobs ask and do (`sim.policies.preempt.preemption`), on
columns (arrays of numbers).

A suspended job resumes on its own processors, and suspending and resuming take no time.
"""

from __future__ import annotations

from typing import Any

from sim.decisions.decisions import Resume, Start
from sim.decisions.reasons import Fits, OwnFree, Preempts
from sim.history.decision_log import form_of
from sim.kernel.arrays import (
    growing_numbers,
    growing_times,
    insert_number,
    number_before,
    numbers,
    remove_numbers,
    remove_step,
    remove_times,
    times,
)
from sim.kernel.calls import Pass, Rules
from sim.kernel.loop import Loop
from sim.kernel.sets import Sets, Waiters
from sim.machine import cython
from sim.machine.columns import Numbers, Processors
from sim.machine.operations import insert_pair, insert_three, remove_number, remove_pair

SUSPENDED = 3
"""Index of "suspended" in `sim.history.stretch.ENDINGS`"""
FITS_THERE: int = form_of(Start, Fits, True)
OWN_IS_FREE: int = form_of(Resume, OwnFree)
TAKES_OVER: int = form_of(Start, Preempts, True)
RETURNS: int = form_of(Resume, Preempts)
"""Numbers of four forms in the log of decisions: start and resumption without suspending others, then start and
resumption with suspending others. This is the last of the four
"""


@cython.cclass
class Ranking:
    """Jobs sorted by a number. Of jobs with equal numbers, the one with the highest rank comes first, as in
    `sim.policies.ranking`.
    """

    def __init__(self, jobs: int) -> None:
        self.number, self.rank, self.count = growing_times(jobs), growing_numbers(jobs), 0
        """Sorted numbers of the jobs, their ranks in the same order as negative numbers, and how many jobs there are"""
        self.listed = numbers(jobs)
        """Column with the result of `up` or `down`, which the next call overwrites"""

    def empty(self) -> None:
        """Remove all jobs."""
        if self.count:
            remove_times(self.number, self.count, 0, self.count)
            remove_numbers(self.rank, self.count, 0, self.count)
            self.count = 0

    def add(self, job: int, number: float) -> None:
        """Add a job with the number by which it is sorted."""
        insert_pair(self.number, self.rank, self.count, number, -job)
        self.count += 1

    def remove(self, job: int) -> None:
        """Remove the job."""
        remove_step(self.number, self.rank, self.count, self.place(job) - 1)
        self.count -= 1

    def place(self, job: int) -> int:
        """Return the place of the job, 1 for the lowest number."""
        place = 0
        while self.rank[place] != -job:
            place += 1
        return place + 1

    def up(self) -> Numbers:
        """Return the jobs, the lowest number first."""
        for index in range(self.count):
            self.listed[index] = -self.rank[index]
        return self.listed[: self.count]

    def down(self) -> Numbers:
        """Return the jobs, the highest number first."""
        for index in range(self.count):
            self.listed[index] = -self.rank[self.count - 1 - index]
        return self.listed[: self.count]


@cython.cclass
class PreemptiveRules(Rules):
    """Compiled policy that suspends jobs, with the parameters of `Preemptive`."""

    def __init__(self) -> None:
        self.seats: Any = None
        self.restart: Any = None
        self.memory = False
        self.bandwidth = 0.0
        self.seed: Any = None

    def xfactor(self, now: Pass, job: int) -> float:
        """Return the job's expansion factor (xfactor) now."""
        return 0.0

    def threshold(self, now: Pass, job: int) -> float:
        """Return the suspension threshold of a running job: its xfactor, infinite if the policy protects it."""
        return 0.0

    def price(self, now: Pass, job: int, other: int) -> float:
        """Return the xfactor from which the idle job may suspend the running job `other`."""
        return 0.0

    def toll(self, now: Pass, job: int) -> float:
        """Return the xfactor from which the idle job may preempt."""
        return 0.0


@cython.cclass
class Suspension(Loop):
    """Fast loop of policies that suspend jobs; subclasses are informed of each suspension and resumption."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.seats_apart = True
        # Sets of processors: of each job that runs or is suspended, and others
        self.sets = Sets(jobs + 6, procs)
        self.idle_set, self.tried_set, self.watched_set, self.came_set = jobs, jobs + 1, jobs + 2, jobs + 3
        self.apart_set, self.waited_for_set = jobs + 4, jobs + 5
        self.whole_sets: list[Processors] = []
        """Sets of processors that the history stores as integers, one for each stretch (time of a job on processors)"""
        self.since, self.ran_before = times(jobs), times(jobs)
        """For each running job, by rank: the time since which it has run without interruption, and the seconds for
        which it had run before
        """
        # Suspended jobs
        self.preempted = numbers(0)
        """For each job, by rank: how many times it was suspended; this is a column of the ledger"""
        self.paused = self.preemptions = 0
        self.pauses = Waiters(jobs, 1)
        """Suspended jobs in one list, the last suspended first"""
        self.paused_at, self.paused_in = times(jobs), numbers(jobs)
        self.is_waited_for = True
        """True if the set of all processors that suspended jobs need (`waited_for_set`) is up to date"""
        self.stands_at = Waiters(jobs, procs)
        """For each taken processor: the suspended jobs that need it to resume. Each job is listed under one processor
        only, as one is enough to block it
        """
        self.fitting, self.fits_count = growing_numbers(jobs), 0
        """Ranks of the suspended jobs that may fit, and the number of these jobs"""
        self.stays = Waiters(jobs, 1)
        """Running jobs in one list, the last started first"""
        self.is_to_wake = numbers(jobs)
        """For each job 1 if a pass is requested that is made only while the job runs, otherwise 0"""
        # Of a pass
        self.rankings: list[Any] = []
        """Rankings that a policy uses, one for each call in its source code that makes a ranking"""
        self.roomy, self.victims, self.idle = numbers(jobs), numbers(jobs), numbers(jobs)
        self.run_ranks = numbers(most_running)

    # Policies

    def _comes_to_run(self, rank: int, ran: float) -> None:
        """Update the data of the policy when the job has just started or resumed, or is copied into the loop; `ran` are
        the seconds that it had run before.
        """

    def _has_left(self, rank: int) -> None:
        """Update the data of the policy after the job has left its processors."""
        if self.is_to_wake[rank]:
            self._forget_wake(rank)

    def _is_set_aside(self, rank: int, ran: float) -> None:
        """Update the data of the policy after the job was suspended with `ran` seconds of progress."""

    def _is_taken_up(self, rank: int) -> None:
        """Update the data of the policy when the suspended job is about to resume."""

    # From a state of the engine, and back

    def enter_runner(self, rank: int, since: float, ran: float) -> None:
        """Copy a running job into the loop: it has run since the time `since`, and had made `ran` seconds of progress
        before.
        """
        self.since[rank], self.ran_before[rank] = since, ran
        self.held_at[rank] = rank
        self.stays.keep(rank, 0)
        self._comes_to_run(rank, ran)

    def enter_wake(self, at: float, rank: int) -> None:
        """Copy a request into the loop: make a pass at the time `at` if the job `rank` still runs then."""
        self._wake(at, rank)

    def wakes(self) -> list[tuple[float, int]]:
        """Return (time, rank) of each requested pass; the pass is made only if the job of this rank still runs then."""
        return [(self.reserved_at[index], self.reserved_rank[index]) for index in range(self.reservations)]

    def enter_paused(self, rank: int, since: float, ran: float) -> None:
        """Copy a suspended job into the loop: it has been suspended since the time `since`, after `ran` seconds of
        progress.
        """
        self.paused_at[rank] = since
        self.paused_in[rank] = -1
        self._pause(rank, ran)

    def free_set(self) -> Processors:
        """Return the idle processors, as bits."""
        return self.sets.told(self.idle_set)

    def paused_ranks(self) -> list[int]:
        """Return the ranks of the suspended jobs, the first suspended first."""
        ranks: list[int] = []
        rank = self.pauses.first[0]
        while rank >= 0:
            ranks.append(rank)
            rank = self.pauses.then[rank]
        return ranks[::-1]

    # A step

    def _has_room(self) -> bool:
        idle = self.waiting + self.coming + self.paused
        if self.step == self.most_steps or self.begun + idle > self.most_begun:
            return False
        return not self.decided + 2 * idle + self.running > self.most_decided

    def _decide(self) -> None:
        while self.reservations and self.reserved_at[0] <= self.now:
            self._forget_wake(self.reserved_rank[0])
        self.rules.decide(self)
        self.credit -= self.paused

    # Questions

    def _new_ranking(self, place: int) -> Ranking:
        """Return an empty ranking. The calls of this method in the policy's source code are numbered; `place` is the
        number of this one, so that each has columns of its own.
        """
        while len(self.rankings) <= place:
            self.rankings.append(Ranking(len(self.since)))
        ranking: Ranking = self.rankings[place]
        ranking.empty()
        return ranking

    def _ran(self, rank: int) -> float:
        ran: float = self.l_ran[rank]
        return ran + self.now - self.since[rank] if self.stays.keeper[rank] >= 0 else ran

    def _runs(self) -> Numbers:
        rank, index = self.stays.first[0], self.running
        while rank >= 0:
            index -= 1
            self.run_ranks[index] = rank
            rank = self.stays.then[rank]
        return self.run_ranks[: self.running]

    def _newcomers(self) -> Numbers:
        return self._ranks_from(0, self.all)

    def _idle(self) -> Numbers:
        count, rank = self.waiting, self.pauses.first[0]
        for index in range(count):
            self.idle[index] = self.queue[index]
        while rank >= 0:
            self.idle[count] = rank
            count += 1
            rank = self.pauses.then[rank]
        return self.idle[:count]

    def _roomy(self) -> Numbers:
        if not self.free:
            return self.roomy[:0]
        self._find_room()
        count, free = self.fits_count, self.free
        for index in range(count):
            self.roomy[index] = self.fitting[index]
        for index in range(self.waiting):
            rank = self.queue[index]
            if self.procs[rank] <= free:
                self.roomy[count] = rank
                count += 1
        return self.roomy[:count]

    def _victims_among(self, rank: int, candidates: Numbers) -> Numbers:
        needed, found, count = self.procs[rank] - self.free, 0, 0
        other: int
        for other in candidates:
            if found >= needed:
                break
            self.victims[count] = other
            found += self.procs[other]
            count += 1
        return self.victims[: self._spare_unneeded(count, found, needed)]

    def _fits(self, rank: int) -> bool:
        if self.pauses.keeper[rank] >= 0:
            return self.sets.first_beside(rank, self.idle_set) < 0
        procs: int = self.procs[rank]
        return procs <= self.free

    def _find_room(self) -> None:
        """Find the suspended jobs that fit. A job is checked again only if the processor that blocked it has become
        idle.
        """
        sets, idle, came, watched = self.sets, self.idle_set, self.came_set, self.watched_set
        sets.become(came, idle)
        sets.drop(came, self.tried_set)
        sets.keep(came, watched)
        sets.become(self.tried_set, idle)
        processor = sets.first_after(came, -1)
        if processor >= 0:
            sets.drop(watched, came)
            while processor >= 0:
                rank = self.stands_at.first[processor]
                while rank >= 0:
                    self.stands_at.forget(rank)
                    insert_number(self.fitting, self.fits_count, self.fits_count, rank)
                    self.fits_count += 1
                    rank = self.stands_at.first[processor]
                processor = sets.first_after(came, processor)
        index = 0
        while index < self.fits_count:
            rank = self.fitting[index]
            processor = sets.first_beside(rank, idle)
            if processor >= 0:
                remove_number(self.fitting, self.fits_count, index)
                self.fits_count -= 1
                self.stands_at.keep(rank, processor)
                sets.add_one(watched, processor)
            else:
                index += 1

    # Starting, suspending, resuming

    def _take_room(self, rank: int) -> None:
        """Start or resume the job, which fits without suspending others."""
        if self.pauses.keeper[rank] >= 0:
            self._resume(rank, OWN_IS_FREE, 0)
            return
        free, missing, sets = self.free, self.procs[rank], self.sets
        if self.seats_apart:
            self._find_waited_for()
            sets.become(self.apart_set, self.idle_set)
            sets.drop(self.apart_set, self.waited_for_set)
            missing = sets.take(rank, self.apart_set, missing)
        if missing:
            sets.take(rank, self.idle_set, missing)
        self._start_there(rank, FITS_THERE, free)

    def _find_waited_for(self) -> None:
        """Collect the processors that suspended jobs need to resume, so that new jobs avoid them if possible."""
        if not self.is_waited_for:
            self.is_waited_for = True
            self.sets.drop(self.waited_for_set, self.waited_for_set)
            rank = self.pauses.first[0]
            while rank >= 0:
                self.sets.add(self.waited_for_set, rank)
                rank = self.pauses.then[rank]

    def _start_there(self, rank: int, form: int, number: float) -> None:
        """Start a new job on its chosen processors, and record the decision with its form (number `form`) and the
        number `number` of its reason.
        """
        remove_number(self.queue, self.waiting, number_before(self.queue, rank, 0, self.waiting))
        self.waiting -= 1
        self.wanted -= self.procs[rank]
        self._note(form, rank, -1, number, self.begun, 0.0)
        self._begin(rank)

    def _resume(self, rank: int, form: int, number: float) -> None:
        """Resume a job on its own processors, and record the decision with its form (number `form`) and the number
        `number` of its reason.
        """
        if self.stands_at.keeper[rank] >= 0:
            self.stands_at.forget(rank)
        else:
            index = 0
            while self.fitting[index] != rank:
                index += 1
            remove_number(self.fitting, self.fits_count, index)
            self.fits_count -= 1
        self.pauses.forget(rank)
        self.paused -= 1
        self.is_waited_for = False
        self._is_taken_up(rank)
        self._note(form, rank, -1, number, 0.0, 0.0)
        self._begin(rank)

    def _begin(self, rank: int) -> None:
        """Let the job run on its processors from now on, and begin a stretch (time on processors) in the history."""
        now, running, ran, estimate = self.now, self.running, self.l_ran[rank], self.estimate[rank]
        expected, leaves = now + estimate - ran, -(now + self.runtime[rank] - ran)
        self.sets.drop(self.idle_set, rank)
        self.free -= self.procs[rank]
        self.held_at[rank] = rank
        self.expected[rank] = expected
        insert_three(self.end_at, self.end_rank, self.end_procs, running, expected, rank, self.procs[rank])
        insert_pair(self.leave_at, self.leave_rank, running, leaves, rank)
        self.running = running + 1
        self.h_place[self.begun] = -1 - len(self.whole_sets)
        self.whole_sets.append(self.sets.told(rank))
        self._begin_stretch(rank, now)
        self._note_start(rank, now)
        self.since[rank], self.ran_before[rank] = now, ran
        self.stays.keep(rank, 0)
        self._comes_to_run(rank, ran)

    def _give_back(self, at: int, procs: int) -> None:
        """Free the `procs` processors of the job with rank `at`, which has left."""
        self.stays.forget(at)
        self.sets.add(self.idle_set, at)
        self.free += procs
        self._has_left(at)

    def _suspend(self, rank: int, form: int, by: int, one: float, two: float, three: float) -> None:
        """Suspend the running job `rank` so that the job `by` can run; `form`, `one`, `two` and `three` are the form
        and the numbers of the reason.
        """
        now, running, ran, begins = self.now, self.running, self.l_ran[rank], self.since[rank]
        leaves = -(begins + self.runtime[rank] - ran)
        remove_pair(self.leave_at, self.leave_rank, running, leaves, rank)
        ran = ran + now - begins
        self.l_ran[rank] = ran
        self._leave(rank, now)
        self._end_stretch(rank, now, SUSPENDED)
        self.preempted[rank] += 1
        self.preemptions += 1
        self._note(form, rank, by, one, two, three)
        self.paused_at[rank] = now
        self.paused_in[rank] = self.step
        self._pause(rank, ran)

    def _pause(self, rank: int, ran: float) -> None:
        """Add the job, which has made `ran` seconds of progress, to the suspended jobs."""
        self.pauses.keep(rank, 0)
        self.paused += 1
        self.sets.add(self.waited_for_set, rank)
        insert_number(self.fitting, self.fits_count, self.fits_count, rank)
        self.fits_count += 1
        self._is_set_aside(rank, ran)

    def _take_over(self, rank: int, victims: Numbers) -> None:
        """Start or resume the job for which the victims were suspended.

        A new job gets the lowest-numbered processors that were idle before, then the lowest-numbered of the victims.
        """
        sets = self.sets
        other: int
        if self.pauses.keeper[rank] >= 0:
            self._resume(rank, RETURNS, len(victims))
            return
        sets.become(self.apart_set, self.idle_set)
        for other in victims:
            sets.drop(self.apart_set, other)
        missing = sets.take(rank, self.apart_set, self.procs[rank])
        sets.take(rank, self.idle_set, missing)
        self._start_there(rank, TAKES_OVER, len(victims))

    def _spare_unneeded(self, count: int, found: int, needed: int) -> int:
        """Remove jobs that need not be suspended from the `count` chosen ones, which hold `found` processors; return
        how many jobs remain.

        The remaining jobs must hold at least `needed` processors; if `found` is less, return 0.
        """
        kept, victims = 0, self.victims
        if found < needed:
            return 0
        for index in range(count):
            rank = victims[index]
            if found - self.procs[rank] >= needed:
                found -= self.procs[rank]
            else:
                victims[kept] = rank
                kept += 1
        return kept

    # Requested passes

    def _wake(self, at: float, rank: int) -> None:
        """Request a pass at the time `at`, unless the running job `rank` leaves its processors before."""
        if not self.is_to_wake[rank]:
            insert_pair(self.reserved_at, self.reserved_rank, self.reservations, at, rank)
            self.reservations += 1
            self.is_to_wake[rank] = 1

    def _forget_wake(self, rank: int) -> None:
        """Remove the request for a pass that depends on this job; the request has been fulfilled or is no longer
        needed.
        """
        place = 0
        while self.reserved_rank[place] != rank:
            place += 1
        remove_step(self.reserved_at, self.reserved_rank, self.reservations, place)
        self.reservations -= 1
        self.is_to_wake[rank] = 0
