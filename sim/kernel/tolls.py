"""Memory of selective suspension in the fast loop: tolls of idle jobs, and slowdowns of finished jobs, on columns.

The toll of an idle job is the largest xfactor among the running jobs that it must suspend; the job with that xfactor is
the keeper of the toll. The idle job can pay the toll, so that it may preempt, when its own xfactor is at least the
factor `sf` times the toll. The loop computes a time before which that cannot happen, as `sim.policies.preempt.tolls`
does. The list of running jobs sorted by xfactor is called the ladder. For the decisions see
`sim.policies.preempt.selective`.
"""

from __future__ import annotations

from sim.kernel.sets import Waiters
from sim.kernel.suspension import PreemptiveRules, Suspension
from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    Numbers,
    Times,
    growing_numbers,
    growing_times,
    number_before,
    numbers,
    time_up_to,
    times,
)
from sim.machine.operations import insert_pair, remove_pair
from sim.policies.preempt.xfactors import expansion, is_too_wide, payable_from

KINDS_OF_JOBS = 16
"""Number of categories in `sim.workload.categories`"""


@cython.cclass
class TollLoop(Suspension):
    """Fast loop of policies that compare xfactors: it remembers tolls and slowdowns from pass to pass."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Suspension.__init__(self, jobs, procs, most_running)
        # The policy
        self.sf, self.terms = 0.0, PreemptiveRules()
        """The suspension factor, and the rules of the policy, which tell the xfactor of a running job"""
        # The jobs
        self.low = times(0)
        """For each job, by rank: a time before which it cannot preempt, valid as long as the job has not run yet"""
        self.category = numbers(0)
        # Running jobs sorted by xfactor, of equals the latest rank first
        self.height = times(jobs)
        """For each running job, by rank: its xfactor, infinite if the job is protected from suspension"""
        self.rung_at: Times = growing_times(most_running)
        self.rung_of, self.rungs = growing_numbers(most_running), 0
        """Negative ranks of the running jobs, sorted by xfactor, and the number of these jobs"""
        self.prices: Times = times(procs + 1)
        self.priced_at, self.stamp = numbers(procs + 1), 1
        """For each width (number of processors): number of the state of the ladder (running jobs sorted by xfactor) for
        which its toll was computed; and the number of the present state
        """
        # Tolls
        self.keepers = Waiters(jobs, jobs + 1)
        """For each idle job: the running job that determines its toll (its keeper), if known; `nobody` if no job must
        be suspended
        """
        self.nobody = jobs
        self.hoped, self.least = times(jobs), times(jobs)
        """For each suspended job: the time at which its xfactor is enough for the lowest possible toll (1); and the
        xfactor that it needs for its known toll
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
        """For each category 1 if a job of it has finished in this step, otherwise 0"""
        # Of a pass
        self.turn_at, self.turn_rank = 0.0, -1

    # From a state of the engine, and back

    def enter_toll(self, rank: int, keeper: int, moment: float) -> None:
        """Copy a suspended job's toll into the loop: its `keeper` (rank of the running job that determines the toll;
        negative if unknown).

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

    # A pass

    def _decide(self) -> None:
        self._forget_request()
        self.rules.decide(self)
        self.credit -= self.paused

    def _look(self, has_ticked: bool) -> bool:
        if self.stood and not self.completed and not has_ticked:
            return True
        self._release(self.nobody)
        return False

    def _remember(self, has_ticked: bool) -> None:
        self.stood = not has_ticked

    def _next_end(self) -> float:
        return self.end_at[0] if self.running else INFINITE

    def _needs_own(self, rank: int) -> bool:
        return self.pauses.keeper[rank] >= 0

    def _may_give_way(self, runner: int, rank: int) -> bool:
        return self.pauses.keeper[rank] < 0 or self.sets.meets(runner, rank)

    # Turns

    def _begin_turns(self) -> None:
        self.turn_at, self.turn_rank = -INFINITE, -1

    def _next_turn(self) -> int:
        """Return the next job that can pay its toll now, or that fits without suspending others; -1 if there is none.

        The jobs are handled from the highest xfactor to the lowest; those up to the last job handled are skipped.
        """
        now, sf, last_at, last = self.now, self.sf, self.turn_at, self.turn_rank
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
        return self.turn_rank

    def _consider(self, rank: int, last_at: float, last: int) -> None:
        """Make the job the candidate if its turn is after the last job handled and before the present candidate.
        `last_at` and `last` are the negative xfactor and the rank of the last job handled.

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
        """Return the xfactor of an idle job now."""
        return expansion(self.now - self.submit[rank] - self.l_ran[rank], self.estimate[rank])

    # The ladder

    def _comes_to_run(self, rank: int, ran: float) -> None:
        self._stand(rank)

    def _has_left(self, rank: int) -> None:
        self._step_down(rank)
        self._release(rank)

    def _stand(self, rank: int) -> None:
        """Add a running job to the ladder (list of running jobs sorted by xfactor)."""
        self.height[rank] = self.terms.height(self, rank)
        insert_pair(self.rung_at, self.rung_of, self.rungs, self.height[rank], -rank)
        self.rungs += 1
        self.stamp += 1

    def _step_down(self, rank: int) -> None:
        remove_pair(self.rung_at, self.rung_of, self.rungs, self.height[rank], -rank)
        self.rungs -= 1
        self.stamp += 1

    # Slowdowns of finished jobs

    def _newly_finished(self) -> Numbers:
        return self.done[: self.completed]

    def _count(self, rank: int, more: float) -> None:
        kind = self.category[rank]
        self.ended[kind] += 1
        self.slowed[kind] = self.slowed[kind] + 1 + more
        self.changed[kind] = 1

    def _counted(self, rank: int) -> int:
        return self.ended[self.category[rank]]

    def _slowdowns(self, rank: int) -> float:
        return self.slowed[self.category[rank]]

    def _review(self) -> None:
        if not self.completed:
            return
        for index in range(self.running):
            rank = self.end_rank[index]
            if self.changed[self.category[rank]]:
                was = self.height[rank]
                self._step_down(rank)
                self._stand(rank)
                if self.height[rank] < was:
                    self._release(rank)
        for kind in range(KINDS_OF_JOBS):
            self.changed[kind] = 0

    # Prices of new jobs

    def _price(self, procs: int) -> float:
        """Return the toll of a new job on `procs` processors: the largest xfactor among the jobs that it must suspend.

        The toll is 0 if enough processors are free, and infinite if suspending all permitted jobs would not be enough.
        """
        if self.priced_at[procs] != self.stamp:
            self.priced_at[procs] = self.stamp
            self.prices[procs] = self._priced(procs)
        return self.prices[procs]

    def _priced(self, procs: int) -> float:
        needed = procs - self.free
        if needed <= 0:
            return 0.0
        for index in range(self.rungs):
            its = self.procs[-self.rung_of[index]]
            if not is_too_wide(its, procs):
                needed -= its
                if needed <= 0:
                    return self.rung_at[index]
        return INFINITE

    # Moments at which jobs can pay

    def _is_set_aside(self, rank: int, ran: float) -> None:
        self.hoped[rank] = payable_from(self.submit[rank] + ran, self.sf, self.estimate[rank])
        self._hope(rank)

    def _is_taken_up(self, rank: int) -> None:
        self.keepers.forget(rank)
        self._become_due(rank, INFINITE)

    def _moment(self, rank: int, least: float) -> float:
        """Return the time at which the idle job's xfactor reaches `least`, minus a tolerance for rounding."""
        return payable_from(self.submit[rank] + self.l_ran[rank], least, self.estimate[rank])

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
        which the job can pay the toll.

        If some of the jobs on its processors are too wide to be suspended, the widest of them becomes the keeper, and
        the toll is infinite.
        """
        keeper, toll, barrier, its, sets = self.nobody, 0.0, -1, self.procs[rank], self.sets
        for index in range(self.rungs - 1, -1, -1):
            other = -self.rung_of[index]
            procs = self.procs[other]
            if (keeper != self.nobody and not is_too_wide(procs, its)) or not sets.meets(other, rank):
                continue
            if keeper == self.nobody:
                keeper, toll = other, self.rung_at[index]
            if is_too_wide(procs, its) and (
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

    def _first_payable(self, is_calm: bool, has_ticked: bool, soon: float, end: float) -> float:
        if is_calm:
            arrivals = number_before(self.queue, self.arriving - self.arrived, 0, self.waiting)
            self.first = self._soonest_of(arrivals, soon, self.first, False)
        elif has_ticked and self._somebody_fits():
            self.first = self.now
        else:
            self.first = self._soonest(soon, end)
        return self.first

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
        """Return the earliest time at which a new job, at `index` of the queue or behind it, can pay its toll; `first`
        if that is earlier.

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
