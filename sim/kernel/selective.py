"""Selective suspension and its tunable form in the fast loop, with the rules of `sim.policies.preempt.selective`.

The toll of an idle job is the largest xfactor among the running jobs that it must suspend; the job with that xfactor is
the keeper of the toll. The idle job may preempt when its own xfactor is at least the factor `sf` times its toll. The
loop computes a time before which that cannot happen, as `sim.policies.preempt.tolls` does. The list of running jobs
sorted by xfactor is called the ladder.
"""

from __future__ import annotations

from math import ceil, floor

from sim.kernel.present import TAU
from sim.kernel.sets import Waiters
from sim.kernel.suspension import Suspension
from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    Times,
    growing_numbers,
    growing_times,
    insert_time,
    numbers,
    remove_times,
    time_up_to,
    times,
)
from sim.machine.moment import MOMENT, whole
from sim.machine.operations import insert_pair, remove_pair

EARLY = 1 - 1e-12
"""Factor a little below 1 that makes computed times slightly earlier, against rounding errors; copy of `EARLY` in
`sim.policies.preempt.tolls`
"""
KINDS_OF_JOBS = 16
"""Number of categories in `sim.workload.categories`"""


@cython.cclass
class SelectiveLoop(Suspension):
    """Fast loop of selective suspension: at each tick, idle jobs may suspend running jobs whose xfactor is smaller by
    the factor `sf`.
    """

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Suspension.__init__(self, jobs, procs, most_running)
        # The policy
        self.suspends_as = 0
        self.sf = self.tick = 0.0
        self.limit = -1.0
        """Factor: a job is protected if its xfactor exceeds this factor times the mean slowdown of its category;
        negative if no job is protected
        """
        # The jobs
        self.low = times(0)
        """For each job, by rank, as long as it is new: a time before which it cannot preempt"""
        self.category = numbers(0)
        # Running jobs sorted by xfactor, of equals the latest rank first
        self.height, self.bare_height = times(jobs), times(jobs)
        """For each running job, by rank: its xfactor, infinite if the job is protected from suspension; and its xfactor
        regardless of protection
        """
        self.rung_at: Times = growing_times(most_running)
        self.rung_of, self.rungs = growing_numbers(most_running), 0
        """Negative ranks of the running jobs, sorted by xfactor, and the number of these jobs"""
        self.prices: Times = times(procs + 1)
        self.priced_at, self.stamp = numbers(procs + 1), 1
        """For each width (number of processors): number of the ladder's state for which its toll was computed; and the
        number of the present state
        """
        # Tolls
        self.keepers = Waiters(jobs, jobs + 1)
        """For each idle job: the running job that determines its toll (its keeper), if known; `nobody` if no job must
        be suspended
        """
        self.nobody = jobs
        self.hoped, self.least = times(jobs), times(jobs)
        """For each suspended job: the time at which it can pay the lowest possible toll (1), and the xfactor that it
        needs for its known toll
        """
        self.moment = times(0)
        """For each suspended job: the time at which it can pay its toll, or an earlier time; infinite if there is no
        such time
        """
        self.due_at, self.due_rank, self.dues = growing_times(jobs), growing_numbers(jobs), 0
        # Memory of the last pass
        self.stood = False
        self.first = INFINITE
        # Of the finished jobs by category
        self.ended, self.slowed = numbers(KINDS_OF_JOBS), times(KINDS_OF_JOBS)
        self.changed = numbers(KINDS_OF_JOBS)
        # Of a pass
        self.turn_at, self.turn_rank = 0.0, -1

    # From a state of the engine, and back

    def enter_toll(self, rank: int, keeper: int, moment: float) -> None:
        """Copy a suspended job's toll into the loop: its `keeper` (rank of the running job that determines it; negative
        if unknown).

        `moment` is the time at which the job can pay the toll.
        """
        if keeper >= 0:
            self.keepers.keep(rank, keeper)
        self._become_due(rank, moment)

    def enter_left(self, rank: int) -> None:
        """Record that the job has left its processors since the tolls were last computed."""
        self._release(rank)
        if self.pauses.keeper[rank] >= 0:
            self._hope(rank)

    def wake(self, at: float) -> None:
        """Request a pass at the time `at`, in place of an earlier request; an infinite time requests none."""
        if self.reservations:
            remove_times(self.reserved_at, self.reservations, 0, 1)
            self.reservations = 0
        if at < INFINITE:
            insert_time(self.reserved_at, 0, 0, at)
            self.reservations = 1

    # A pass

    def _decide(self) -> None:
        now, tick = self.now, self.tick
        self.wake(INFINITE)
        if self.limit >= 0 and self.completed:
            self._count_finished()
        ticks: float = floor(now / tick + 0.5)
        if ticks * tick > now:
            ticks -= 1
        has_ticked = now - ticks * tick <= MOMENT
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
            self._take_free()
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
            at: float = INFINITE
            if self.first < INFINITE:
                at = ceil(self.first / tick) * tick
                if soon > at:
                    at = soon
            if at < end:
                self.wake(at)
        self.stood = not has_ticked
        self.credit -= self.paused

    def _take_free(self) -> None:
        """Start or resume idle jobs that fit, the largest xfactor first."""
        self.rankings = 0
        idle = self._new_ranking()
        rank: int
        for rank in self._roomy():
            idle.add(rank, self._xfactor(rank))
        for rank in idle.down():
            if self._fits(rank):
                self._take_room(rank)

    def _take_turns(self) -> None:
        """Let each idle job that fits or can pay its toll start or resume, once per tick: the largest xfactor first,
        then by rank.
        """
        at, rank = -INFINITE, -1
        while self._find_turn(at, rank):
            at, rank = self.turn_at, self.turn_rank
            if self._fits(rank):
                self._take_room(rank)
            else:
                self._preempt(rank)

    def _find_turn(self, last_at: float, last: int) -> bool:
        """Find the next job that can pay its toll now, or that fits without suspending others; return False if there is
        no such job.

        Jobs up to the last one handled, of rank `last` and negative xfactor `last_at`, are skipped.
        """
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
        count = time_up_to(self.due_at, now, 0, self.dues)
        for index in range(count):
            self.scratch[index] = self.due_rank[index]
        for index in range(count):
            rank = self.scratch[index]
            self._find(rank)
            if self.moment[rank] <= now and self._xfactor(rank) >= self.least[rank]:
                self._consider(rank, last_at, last)
        return self.turn_rank >= 0

    def _consider(self, rank: int, last_at: float, last: int) -> None:
        """Make the job the candidate if its turn is after the last job handled (`last_at`, `last`) and before the
        present candidate.

        Jobs suspended in this pass are skipped.
        """
        if self.pauses.keeper[rank] >= 0 and self.paused_in[rank] == self.step:
            return
        at = -self._xfactor(rank)
        if (at > last_at or (at == last_at and rank > last)) and (
            at < self.turn_at or (at == self.turn_at and rank < self.turn_rank)
        ):
            self.turn_at, self.turn_rank = at, rank

    def _xfactor(self, rank: int) -> float:
        """Return the xfactor of an idle job now: (wait + estimate) / estimate."""
        estimate = self.estimate[rank]
        xfactor: float = (whole(self.now - self.submit[rank] - self.l_ran[rank]) + estimate) / estimate
        return xfactor

    def _preempt(self, rank: int) -> None:
        """Suspend running jobs and give the idle job their processors.

        A suspended job resumes on its own processors, so all jobs there are suspended; a new job suspends those with
        the lowest xfactors.
        """
        count, mine, victims, sets = 0, self._xfactor(rank), self.victims, self.sets
        if self.pauses.keeper[rank] < 0:
            count = self._choose(rank, mine)
        else:
            for index in range(self.rungs):
                other = -self.rung_of[index]
                if sets.meets(other, rank):
                    victims[count] = other
                    count += 1
        for index in range(count):
            other = victims[index]
            estimate = self.estimate[other]
            ran = self.l_ran[other] + self.now - self.since[other]
            own = (whole(self.now - self.submit[other] - ran) + estimate) / estimate
            self._suspend(other, self.suspends_as, rank, mine, own, self.sf)
        self._take_over(rank, victims[:count])

    def _choose(self, rank: int, mine: float) -> int:
        """Choose the running jobs that a new job with xfactor `mine` suspends, lowest xfactors first, and leave out
        jobs that are not needed.

        Return the number of chosen jobs, 0 if they do not free enough processors.
        """
        needed, found, count = self.procs[rank] - self.free, 0, 0
        widest = 2 * self.procs[rank]
        for index in range(self.rungs):
            if found >= needed:
                break
            other = -self.rung_of[index]
            if mine >= self.sf * self.rung_at[index] and self.procs[other] <= widest:
                self.victims[count] = other
                count += 1
                found += self.procs[other]
        return self._spare_unneeded(count, found, needed)

    # The ladder

    def _comes_to_run(self, rank: int, ran: float) -> None:
        """Record that the job runs from now on, after `ran` seconds of progress; while it runs, its xfactor stays
        constant.
        """
        estimate = self.estimate[rank]
        self.bare_height[rank] = (whole(self.since[rank] - self.submit[rank] - ran) + estimate) / estimate
        self._stand(rank)

    def _has_left(self, rank: int) -> None:
        self._step_down(rank)
        self._release(rank)

    def _stand(self, rank: int) -> None:
        height = self.bare_height[rank]
        if self.limit >= 0:
            kind = self.category[rank]
            if self.ended[kind] and height > self.limit * self.slowed[kind] / self.ended[kind]:
                height = INFINITE
        self.height[rank] = height
        insert_pair(self.rung_at, self.rung_of, self.rungs, height, -rank)
        self.rungs += 1
        self.stamp += 1

    def _step_down(self, rank: int) -> None:
        remove_pair(self.rung_at, self.rung_of, self.rungs, self.height[rank], -rank)
        self.rungs -= 1
        self.stamp += 1

    def _count_finished(self) -> None:
        """Update the mean slowdowns of the categories with the jobs completed in this step; the means determine which
        running jobs are protected.
        """
        for kind in range(KINDS_OF_JOBS):
            self.changed[kind] = 0
        for index in range(self.completed):
            rank = self.done[index]
            kind, ran = self.category[rank], self.runtime[rank]
            self.ended[kind] += 1
            idle = whole(self.now - self.submit[rank] - ran)
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
        """Return the toll of a new job on `procs` processors: the largest xfactor among the jobs that it must suspend.

        The toll is 0 if enough processors are free, and infinite if suspending all permitted jobs would not be enough.
        """
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

    # Moments at which jobs can pay

    def _is_set_aside(self, rank: int, ran: float) -> None:
        estimate = self.estimate[rank]
        self.hoped[rank] = EARLY * (self.submit[rank] + ran + self.sf * estimate) - estimate - MOMENT
        self._hope(rank)

    def _is_taken_up(self, rank: int) -> None:
        self.keepers.forget(rank)
        self._become_due(rank, INFINITE)

    def _moment(self, rank: int, least: float) -> float:
        """Return the time at which the idle job's xfactor reaches `least`, minus a tolerance for rounding."""
        estimate = self.estimate[rank]
        moment: float = EARLY * (self.submit[rank] + self.l_ran[rank] + least * estimate) - estimate - MOMENT
        return moment

    def _become_due(self, rank: int, moment: float) -> None:
        was = self.moment[rank]
        if was == moment:
            return
        if was < INFINITE:
            remove_pair(self.due_at, self.due_rank, self.dues, was, rank)
            self.dues -= 1
        if moment < INFINITE:
            insert_pair(self.due_at, self.due_rank, self.dues, moment, rank)
            self.dues += 1
        self.moment[rank] = moment

    def _release(self, keeper: int) -> None:
        """Treat all tolls that `keeper` determined as unknown; until they are computed again, they count as the lowest
        possible.
        """
        rank = self.keepers.first[keeper]
        while rank >= 0:
            self.keepers.forget(rank)
            self._hope(rank)
            rank = self.keepers.first[keeper]

    def _hope(self, rank: int) -> None:
        self._become_due(rank, self.hoped[rank])

    def _find(self, rank: int) -> None:
        """Compute the suspended job's toll (the largest xfactor among the jobs on its processors), and the time at
        which it can pay it.

        If some of these jobs are too wide to be suspended, the widest of them becomes the keeper, and the toll is
        infinite.
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
        """Return a time before which no idle job can pay its toll; infinity if that time is not earlier than `before`.

        The result need not be exact if it is at most `soon`.
        """
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
        """Return the earliest time at which a new job can pay its toll, of those at `index` of the queue and behind; at
        most `first`.

        The search ends as soon as the result is at most `soon`. `looked` is True if tolls without a keeper were reset
        already.
        """
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
