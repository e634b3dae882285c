"""Selective suspension and its tunable form over columns: `sim.policies.preempt`, with the same operations.

Of an idle job that must have its own processors back it is known when its xfactor will be large enough (`due`), or a
moment before that, as in `sim.policies.preempt.tolls`; running jobs stand on a ladder by their xfactors.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Any

from sim.kernel import cython
from sim.kernel.columns import (
    A_MOMENT,
    INFINITE,
    growing_numbers,
    growing_times,
    insert_number,
    insert_time,
    number_before,
    numbers,
    pair_before,
    remove_numbers,
    remove_times,
    time_before,
    time_up_to,
    times,
)
from sim.kernel.loop import Loop
from sim.kernel.present import NEVER, TAU
from sim.kernel.sets import Sets, Waiters

SUSPENDED = 3
"""As in `sim.history.stretch`"""
EARLY = 1 - 1e-12
"""As in `sim.policies.preempt.tolls`"""
KINDS_OF_JOBS = 16
"""As many as `sim.workload.categories` has"""


@cython.cclass
class Suspension(Loop):
    """`run` goes on from the present, in which jobs are suspended as well."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        # The policy
        self.sf = self.tick = 0.0
        self.limit = -1.0
        """How many mean slowdowns a job may suffer; negative: nobody is spared"""
        self.seats_apart = True
        self.takes_as = self.resumes_as = self.returns_as = self.suspends_as = 0
        # The jobs
        self.low: Any = None
        """The earliest moment at which each new job can preempt"""
        self.category: Any = None
        # Sets of processors: of each job that runs or is suspended, and others
        self.sets = Sets(jobs + 7, procs)
        self.idle_set, self.tried_set, self.watched_set, self.came_set = jobs, jobs + 1, jobs + 2, jobs + 3
        self.apart_set, self.waited_for_set, self.theirs_set = jobs + 4, jobs + 5, jobs + 6
        self.whole_sets: Any = []
        """Those of the history"""
        self.preempted: Any = None
        """How often each job was suspended: a column of the ledger"""
        # Who runs: a ladder by xfactor, of equals the latest rank first
        self.since = times(jobs)
        self.height, self.bare_height = times(jobs), times(jobs)
        """Each running job's xfactor; infinite where it may not be suspended"""
        self.rung_at: list[float] = growing_times(most_running)
        self.rung_of, self.rungs = growing_numbers(most_running), 0
        """Negative ranks"""
        self.prices: list[float] = times(procs + 1)
        self.priced_at, self.stamp = numbers(procs + 1), 1
        """What room for a new job so wide costs, as long as the ladder is the same"""
        # Who is suspended
        self.paused = self.preemptions = 0
        self.pauses = Waiters(jobs, 1)
        """The one who was suspended last first"""
        self.paused_at, self.paused_in = times(jobs), numbers(jobs)
        self.is_waited_for = True
        """Is it known for which processors somebody waits?"""
        self.keepers = Waiters(jobs, jobs + 1)
        """Whose toll each must pay, where that is known; the last is nobody"""
        self.nobody = jobs
        self.hoped, self.least = times(jobs), times(jobs)
        """When each can pay the lowest toll that there is; its least xfactor for the one that is known"""
        self.moment: Any = None
        """When each can pay, as far as is known; infinite: never, or nothing is known"""
        self.due_at, self.due_rank, self.dues = growing_times(jobs), growing_numbers(jobs), 0
        self.stands_at = Waiters(jobs, procs)
        """At which processor of its own, which is taken, each waits"""
        self.fitting, self.fits_count = growing_numbers(jobs), 0
        """Those who may have room"""
        # What is remembered of the last pass
        self.stood = False
        self.first = INFINITE
        self.woken = 0.0
        self.most_wakes = jobs
        # Of the finished jobs by category
        self.ended, self.slowed = numbers(KINDS_OF_JOBS), times(KINDS_OF_JOBS)
        self.changed = numbers(KINDS_OF_JOBS)
        # Of a pass
        self.taker_at, self.taker, self.takers = growing_times(jobs), growing_numbers(jobs), 0
        self.scratch = numbers(jobs)
        self.turn_at, self.turn_rank = 0.0, -1

    # From a state of the engine, and back

    def enter_runner(self, rank: int, since: float, ran: float) -> None:
        """The job runs; it had run so long before."""
        self.since[rank] = since
        self.held_at[rank] = rank
        self._climb(rank, ran)

    def enter_paused(self, rank: int, since: float, ran: float) -> None:
        """The job is suspended; it has run so long."""
        self.paused_at[rank] = since
        self.paused_in[rank] = -1
        self._pause(rank, ran)

    def enter_toll(self, rank: int, keeper: int, moment: float) -> None:
        """Whose toll the job must pay, if that is known, and when it can."""
        if keeper >= 0:
            self.keepers.keep(rank, keeper)
        self._become_due(rank, moment)

    def enter_left(self, rank: int) -> None:
        """Somebody has left since the last look."""
        self._release(rank)
        if self.pauses.keeper[rank] >= 0:
            self._hope(rank)

    def enter_wake(self, at: float) -> None:
        """The policy has asked to be woken."""
        self._wake(at)

    def paused_ranks(self) -> list[int]:
        """Who is suspended, in the order in which they were."""
        ranks: list[int] = []
        rank = self.pauses.first[0]
        while rank >= 0:
            ranks.append(rank)
            rank = self.pauses.then[rank]
        return ranks[::-1]

    def wakes(self) -> list[float]:
        """When the policy asked to be woken."""
        return [self.reserved_at[index] for index in range(self.reservations)]

    # A step

    def _has_room(self, now: float) -> bool:
        idle, arriving = self.waiting + self.paused, self.arriving
        while self.submit[arriving] <= now:
            arriving += 1
            idle += 1
        if self.steps == self.most_steps or self.begun + idle > self.most_begun:
            return False
        return not self.decided + 2 * idle + self.running > self.most_decided

    def _decide(self) -> bool:
        now, tick = self.now, self.tick
        while self.reservations and self.reserved_at[0] <= now:
            remove_times(self.reserved_at, self.reservations, 0, 1)
            self.reservations -= 1
        if self.limit >= 0 and self.completed:
            self._count_finished()
        ticks = floor(now / tick + 0.5)
        if ticks * tick > now:
            ticks -= 1
        has_ticked = now - ticks * tick <= A_MOMENT
        is_calm = self.stood and not self.completed and not has_ticked
        before = self.waiting - self.arrived
        if is_calm:
            index = before
            while index < self.waiting:
                if self.procs[self.queue[index]] <= self.free:
                    self._take_room(self.queue[index])
                else:
                    index += 1
        else:
            self._release(self.nobody)
            self._go_on()
            if has_ticked:
                self._take_turns()
        soon, end = (ticks + 1) * tick, self.end_at[0] if self.running else INFINITE
        if soon < end:
            if is_calm:
                self.first = self._soonest_of(before, soon, self.first, False)
            elif has_ticked and self._somebody_fits():
                self.first = now
            else:
                self.first = self._soonest(soon, end)
            at = INFINITE
            if self.first < INFINITE:
                at = ceil(self.first / tick) * tick
                if soon > at:
                    at = soon
            if at != self.woken and at < end:
                self.woken = at
                self._wake(at)
        self.stood = not has_ticked
        self.credit -= self.paused
        return True

    def _wake(self, at: float) -> None:
        """The policy is to be asked again; the column of reservations says when."""
        place = time_before(self.reserved_at, self.reservations, at)
        if place < self.reservations and self.reserved_at[place] == at:
            return
        if cython.compiled and self.reservations == self.most_wakes:
            self.most_wakes = 2 * self.most_wakes
            grown = growing_times(self.most_wakes)
            for index in range(self.reservations):
                grown[index] = self.reserved_at[index]
            self.reserved_at = grown
        insert_time(self.reserved_at, self.reservations, place, at)
        self.reservations += 1

    def _go_on(self) -> None:
        """Idle jobs start or resume where there is room, the largest xfactor before the others, then by rank."""
        self._find_room()
        for index in range(self.fits_count):
            self._line_taker_up(self.fitting[index])
        free = self.free
        if free:
            queue, procs = self.queue, self.procs
            for index in range(self.waiting):
                if procs[queue[index]] <= free:
                    self._line_taker_up(queue[index])
        for index in range(self.takers):
            if self._fits(self.taker[index]):
                self._take_room(self.taker[index])
        if self.takers:
            remove_times(self.taker_at, self.takers, 0, self.takers)
            remove_numbers(self.taker, self.takers, 0, self.takers)
            self.takers = 0

    def _line_taker_up(self, rank: int) -> None:
        at = -self._xfactor(rank)
        place = pair_before(self.taker_at, self.taker, self.takers, at, rank)
        insert_time(self.taker_at, self.takers, place, at)
        insert_number(self.taker, self.takers, place, rank)
        self.takers += 1

    def _take_turns(self) -> None:
        """Each job that is idle now, once: the largest xfactor first, then by rank."""
        at, rank = -INFINITE, -1
        while self._find_turn(at, rank):
            at, rank = self.turn_at, self.turn_rank
            if self._fits(rank):
                self._take_room(rank)
            else:
                self._preempt(rank)

    def _find_turn(self, last_at: float, last: int) -> bool:
        """Who comes next of those that can pay now, or need not pay?"""
        now, sf = self.now, self.sf
        self._release(self.nobody)
        self._find_room()
        self.turn_at, self.turn_rank = INFINITE, -1
        for index in range(self.fits_count):
            self._consider(self.fitting[index], last_at, last)
        for index in range(self.waiting):
            rank = self.queue[index]
            if self.procs[rank] <= self.free or (
                self.low[rank] <= now and self._xfactor(rank) >= sf * self._price(self.procs[rank])
            ):
                self._consider(rank, last_at, last)
        count = time_up_to(self.due_at, self.dues, now)
        for index in range(count):
            self.scratch[index] = self.due_rank[index]
        for index in range(count):
            rank = self.scratch[index]
            self._find(rank)
            if self.moment[rank] <= now and self._xfactor(rank) >= self.least[rank]:
                self._consider(rank, last_at, last)
        return self.turn_rank >= 0

    def _consider(self, rank: int, last_at: float, last: int) -> None:
        """It comes next if it comes before who is known, and after the last; who ran in this pass is not asked."""
        if self.pauses.keeper[rank] >= 0 and self.paused_in[rank] == self.step:
            return
        at = -self._xfactor(rank)
        if (at > last_at or (at == last_at and rank > last)) and (
            at < self.turn_at or (at == self.turn_at and rank < self.turn_rank)
        ):
            self.turn_at, self.turn_rank = at, rank

    def _xfactor(self, rank: int) -> float:
        """Of an idle job."""
        estimate = self.estimate[rank]
        xfactor: float = (self.now - self.submit[rank] - self.l_ran[rank] + estimate) / estimate
        return xfactor

    def _fits(self, rank: int) -> bool:
        if self.pauses.keeper[rank] >= 0:
            return self.sets.first_beside(rank, self.idle_set) < 0
        procs: int = self.procs[rank]
        return procs <= self.free

    def _somebody_fits(self) -> bool:
        self._find_room()
        if self.fits_count:
            return True
        index = 0
        while index < self.waiting and self.procs[self.queue[index]] > self.free:
            index += 1
        return index < self.waiting

    def _find_room(self) -> None:
        """Of the suspended jobs for which there is room: only where somebody has left is looked."""
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
                remove_numbers(self.fitting, self.fits_count, index, 1)
                self.fits_count -= 1
                self.stands_at.keep(rank, processor)
                sets.add_one(watched, processor)
            else:
                index += 1

    # Starting, suspending, resuming

    def _take_room(self, rank: int) -> None:
        """The job starts or resumes where it fits."""
        if self.pauses.keeper[rank] >= 0:
            self._resume(rank, self.resumes_as, 0)
            return
        free, missing, sets = self.free, self.procs[rank], self.sets
        if self.seats_apart:
            self._find_waited_for()
            sets.become(self.apart_set, self.idle_set)
            sets.drop(self.apart_set, self.waited_for_set)
            missing = sets.take(rank, self.apart_set, missing)
        if missing:
            sets.take(rank, self.idle_set, missing)
        self._start_there(rank, self.starts_as, free)

    def _find_waited_for(self) -> None:
        """The processors for which suspended jobs wait."""
        if not self.is_waited_for:
            self.is_waited_for = True
            self.sets.drop(self.waited_for_set, self.waited_for_set)
            rank = self.pauses.first[0]
            while rank >= 0:
                self.sets.add(self.waited_for_set, rank)
                rank = self.pauses.then[rank]

    def _start_there(self, rank: int, form: int, number: float) -> None:
        """A new job starts on the processors that it has been given."""
        remove_numbers(self.queue, self.waiting, number_before(self.queue, self.waiting, rank), 1)
        self.waiting -= 1
        self.wanted -= self.procs[rank]
        if self.l_start[rank] != self.l_start[rank]:
            self.l_start[rank] = self.now
            self.started += 1
        self._note(form, rank, -1, number, self.begun, 0.0)
        self._begin(rank)

    def _resume(self, rank: int, form: int, number: float) -> None:
        """A suspended job goes on on its own processors."""
        if self.stands_at.keeper[rank] >= 0:
            self.stands_at.forget(rank)
        else:
            index = 0
            while self.fitting[index] != rank:
                index += 1
            remove_numbers(self.fitting, self.fits_count, index, 1)
            self.fits_count -= 1
        self.pauses.forget(rank)
        self.paused -= 1
        self.is_waited_for = False
        self.keepers.forget(rank)
        self._become_due(rank, INFINITE)
        self._note(form, rank, -1, number, 0.0, 0.0)
        self._begin(rank)

    def _begin(self, rank: int) -> None:
        """The job has its processors to itself from now on."""
        now, running, begun, ran, estimate = self.now, self.running, self.begun, self.l_ran[rank], self.estimate[rank]
        expected, leaves = now + estimate - ran, -(now + self.runtime[rank] - ran)
        self.sets.drop(self.idle_set, rank)
        self.free -= self.procs[rank]
        self.held_at[rank] = rank
        self.expected[rank] = expected
        index = pair_before(self.end_at, self.end_rank, running, expected, rank)
        insert_time(self.end_at, running, index, expected)
        insert_number(self.end_rank, running, index, rank)
        insert_number(self.end_procs, running, index, self.procs[rank])
        index = pair_before(self.leave_at, self.leave_rank, running, leaves, rank)
        insert_time(self.leave_at, running, index, leaves)
        insert_number(self.leave_rank, running, index, rank)
        self.running = running + 1
        before = self.h_last[rank]
        if before < 0:
            self.h_first[rank] = begun
        else:
            self.h_next[before] = begun
        if self.h_started_in[rank] == NEVER:
            self.h_started[rank] = now
            self.h_started_in[rank] = self.steps
        self.h_last[rank] = begun
        self.h_rank[begun] = rank
        self.h_start[begun] = now
        self.h_place[begun] = -1 - len(self.whole_sets)
        self.whole_sets.append(self.sets.told(rank))
        self.begun = begun + 1
        self.since[rank] = now
        self._climb(rank, ran)

    def _give_back(self, at: int, procs: int) -> None:
        """The job has left; it stands at itself."""
        self.sets.add(self.idle_set, at)
        self.free += procs
        self._step_down(at)
        self._release(at)

    def _suspend(self, rank: int, by: int, its_xfactor: float) -> None:
        """The running job makes way for another."""
        now, running, expected, estimate = self.now, self.running, self.expected[rank], self.estimate[rank]
        ran, begins, stretch = self.l_ran[rank], self.since[rank], self.h_last[rank]
        leaves = -(begins + self.runtime[rank] - ran)
        index = pair_before(self.end_at, self.end_rank, running, expected, rank)
        remove_times(self.end_at, running, index, 1)
        remove_numbers(self.end_rank, running, index, 1)
        remove_numbers(self.end_procs, running, index, 1)
        index = pair_before(self.leave_at, self.leave_rank, running, leaves, rank)
        remove_times(self.leave_at, running, index, 1)
        remove_numbers(self.leave_rank, running, index, 1)
        self.running = running - 1
        ran = ran + now - begins
        self.l_ran[rank] = ran
        self._give_back(rank, self.procs[rank])
        self.h_end[stretch] = now
        self.h_end_step[stretch] = self.steps
        self.h_ended_by[stretch] = SUSPENDED
        self.preempted[rank] += 1
        self.preemptions += 1
        own = (now - self.submit[rank] - ran + estimate) / estimate
        self._note(self.suspends_as, rank, by, its_xfactor, own, self.sf)
        self.paused_at[rank] = now
        self.paused_in[rank] = self.step
        self._pause(rank, ran)
        self._hope(rank)

    def _pause(self, rank: int, ran: float) -> None:
        """The job is suspended."""
        self.pauses.keep(rank, 0)
        self.paused += 1
        self.sets.add(self.waited_for_set, rank)
        insert_number(self.fitting, self.fits_count, self.fits_count, rank)
        self.fits_count += 1
        estimate = self.estimate[rank]
        self.hoped[rank] = EARLY * (self.submit[rank] + ran + self.sf * estimate) - estimate

    def _preempt(self, rank: int) -> None:
        """The job takes the place of others: on its own processors of all, else of those who stand lowest."""
        count, mine, victims, sets = 0, self._xfactor(rank), self.scratch, self.sets
        is_new = self.pauses.keeper[rank] < 0
        if is_new:
            count = self._choose(rank, mine)
            sets.drop(self.theirs_set, self.theirs_set)
            for index in range(count):
                sets.add(self.theirs_set, victims[index])
            missing = sets.take(rank, self.idle_set, self.procs[rank])
            sets.take(rank, self.theirs_set, missing)
        else:
            for index in range(self.rungs):
                other = -self.rung_of[index]
                if sets.meets(other, rank):
                    victims[count] = other
                    count += 1
        for index in range(count):
            self._suspend(victims[index], rank, mine)
        if is_new:
            self._start_there(rank, self.takes_as, count)
        else:
            self._resume(rank, self.returns_as, count)

    def _choose(self, rank: int, mine: float) -> int:
        """Whom a new job suspends: the lowest until it is enough, without those that prove unneeded; how many."""
        needed, found, count, kept = self.procs[rank] - self.free, 0, 0, 0
        widest, victims = 2 * self.procs[rank], self.scratch
        for index in range(self.rungs):
            if found >= needed:
                break
            other = -self.rung_of[index]
            if mine >= self.sf * self.rung_at[index] and self.procs[other] <= widest:
                victims[count] = other
                count += 1
                found += self.procs[other]
        if found < needed:
            return 0
        for index in range(count):
            other = victims[index]
            if found - self.procs[other] >= needed:
                found -= self.procs[other]
            else:
                victims[kept] = other
                kept += 1
        return kept

    # The ladder

    def _climb(self, rank: int, ran: float) -> None:
        """One more job runs; its xfactor stands still as long as it does."""
        estimate = self.estimate[rank]
        self.bare_height[rank] = (self.since[rank] - self.submit[rank] - ran + estimate) / estimate
        self._stand(rank)

    def _stand(self, rank: int) -> None:
        height = self.bare_height[rank]
        if self.limit >= 0:
            kind = self.category[rank]
            if self.ended[kind] and height > self.limit * self.slowed[kind] / self.ended[kind]:
                height = INFINITE
        self.height[rank] = height
        index = pair_before(self.rung_at, self.rung_of, self.rungs, height, -rank)
        insert_time(self.rung_at, self.rungs, index, height)
        insert_number(self.rung_of, self.rungs, index, -rank)
        self.rungs += 1
        self.stamp += 1

    def _step_down(self, rank: int) -> None:
        index = pair_before(self.rung_at, self.rung_of, self.rungs, self.height[rank], -rank)
        remove_times(self.rung_at, self.rungs, index, 1)
        remove_numbers(self.rung_of, self.rungs, index, 1)
        self.rungs -= 1
        self.stamp += 1

    def _count_finished(self) -> None:
        """Who is spared depends on the means of the categories of those who have completed."""
        for kind in range(KINDS_OF_JOBS):
            self.changed[kind] = 0
        for index in range(self.completed):
            rank = self.done[index]
            kind, ran = self.category[rank], self.runtime[rank]
            self.ended[kind] += 1
            idle = self.now - self.submit[rank] - ran
            self.slowed[kind] = self.slowed[kind] + 1 + idle / (ran if ran > TAU else TAU)
            self.changed[kind] = 1
        for index in range(self.running):
            rank = self.end_rank[index]
            if self.changed[self.category[rank]]:
                was = self.height[rank]
                self._step_down(rank)
                self._stand(rank)
                if self.height[rank] < was:
                    self._release(rank)

    def _price(self, procs: int) -> float:
        """What suspending enough for a new job so wide takes: an xfactor; infinite if all are too few."""
        if self.priced_at[procs] != self.stamp:
            self.priced_at[procs] = self.stamp
            self.prices[procs] = self._priced(procs)
        return self.prices[procs]

    def _priced(self, procs: int) -> float:
        needed, widest = procs - self.free, 2 * procs
        if needed <= 0:
            return 0.0
        for index in range(self.rungs):
            its = self.procs[-self.rung_of[index]]
            if its <= widest:
                needed -= its
                if needed <= 0:
                    return self.rung_at[index]
        return INFINITE

    # Who can pay when

    def _moment(self, rank: int, least: float) -> float:
        """When the idle job's xfactor is so large."""
        estimate = self.estimate[rank]
        moment: float = EARLY * (self.submit[rank] + self.l_ran[rank] + least * estimate) - estimate
        return moment

    def _become_due(self, rank: int, moment: float) -> None:
        was = self.moment[rank]
        if was == moment:
            return
        if was < INFINITE:
            index = pair_before(self.due_at, self.due_rank, self.dues, was, rank)
            remove_times(self.due_at, self.dues, index, 1)
            remove_numbers(self.due_rank, self.dues, index, 1)
            self.dues -= 1
        if moment < INFINITE:
            index = pair_before(self.due_at, self.due_rank, self.dues, moment, rank)
            insert_time(self.due_at, self.dues, index, moment)
            insert_number(self.due_rank, self.dues, index, rank)
            self.dues += 1
        self.moment[rank] = moment

    def _release(self, keeper: int) -> None:
        """Those who had to pay this one's toll may have to pay as little as any."""
        rank = self.keepers.first[keeper]
        while rank >= 0:
            self.keepers.forget(rank)
            self._hope(rank)
            rank = self.keepers.first[keeper]

    def _hope(self, rank: int) -> None:
        self._become_due(rank, self.hoped[rank])

    def _find(self, rank: int) -> None:
        """What the suspended job must pay as things are, and when it can: all on its processors have to go.

        Of several who bar the way it is the widest whose toll it is, else whoever stands highest.
        """
        keeper, toll, barrier, widest, sets = self.nobody, 0.0, -1, 2 * self.procs[rank], self.sets
        for index in range(self.rungs - 1, -1, -1):
            other = -self.rung_of[index]
            procs = self.procs[other]
            if (keeper != self.nobody and procs <= widest) or not sets.meets(other, rank):
                continue
            if keeper == self.nobody:
                keeper, toll = other, self.rung_at[index]
            if procs > widest and (
                barrier < 0
                or procs > self.procs[barrier]
                or (procs == self.procs[barrier] and sets.exceeds(other, barrier))
            ):
                barrier = other
        if barrier >= 0:
            keeper, toll = barrier, INFINITE
        self.keepers.keep(rank, keeper)
        self.least[rank] = self.sf * toll
        self._become_due(rank, self._moment(rank, self.least[rank]))

    def _soonest(self, soon: float, before: float) -> float:
        """A moment before which nobody can pay, if it is before that; else infinite. By `soon` any moment will do."""
        self._release(self.nobody)
        first = before
        while self.dues and self.due_at[0] < first:
            rank = self.due_rank[0]
            if self.keepers.keeper[rank] >= 0:
                first = self.due_at[0]
            else:
                self._find(rank)
        first = self._soonest_of(0, soon, first, True)
        return first if first < before else INFINITE

    def _soonest_of(self, index: int, soon: float, first: float, looked: bool) -> float:
        """The same for the new jobs from that one in the queue on; `first` if none of them can by then."""
        while index < self.waiting and first > soon:
            rank = self.queue[index]
            if self.low[rank] < first:
                if not looked:
                    self._release(self.nobody)
                    looked = True
                moment = self._moment(rank, self.sf * self._price(self.procs[rank]))
                if moment < first:
                    first = moment
            index += 1
        return first
