"""Memory of selective suspension in the fast loop: tolls of idle jobs, and slowdowns of finished jobs, on columns.

The toll of an idle job is the xfactor from which it may preempt (`toll` in `sim.policies.preempt.selective`). It is
computed again after a job has started or left on the processors in question, as in `sim.policies.preempt.remembering`.
"""

from __future__ import annotations

from sim.kernel.arrays import growing_numbers, growing_times, numbers, times
from sim.kernel.suspension import PreemptiveRules, Suspension
from sim.machine import cython
from sim.machine.columns import INFINITE, Numbers, Times
from sim.machine.operations import insert_pair, remove_pair
from sim.policies.preempt.xfactors import payable_from, reaches

KINDS_OF_JOBS = 16
"""Number of categories in `sim.workload.categories`"""


@cython.cclass
class TollLoop(Suspension):
    """Fast loop of policies that compare xfactors: it remembers tolls and slowdowns from pass to pass."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Suspension.__init__(self, jobs, procs, most_running)
        self.sf, self.terms = 0.0, PreemptiveRules()
        """The suspension factor, and the rules of the policy, which tell xfactors and tolls"""
        self.category = numbers(0)
        # Running jobs sorted by threshold, of equals the latest rank first
        self.threshold = times(jobs)
        """For each running job, by rank: its suspension threshold, infinite if the job is protected"""
        self.sorted_at: Times = growing_times(most_running)
        self.sorted_of, self.sorted_count = growing_numbers(most_running), 0
        """Negative ranks of the running jobs, sorted by xfactor, and the number of these jobs"""
        self.sorted_ranks, self.own_ranks = numbers(most_running), numbers(most_running)
        # Tolls
        self.prices: Times = times(procs + 1)
        self.priced_at, self.stamp = numbers(procs + 1), 1
        """For each width (number of processors): number of the state of the running jobs for which the toll of a new
        job was computed; and the number of the present state
        """
        self.listed_in = 0
        """Number of the state of the running jobs in which `sorted_ranks` was made"""
        self.own_count = 0
        """Number of jobs in the last answer of `_on_own`, which is in `own_ranks`"""
        self.tolls, self.known_at, self.keeper = times(jobs), numbers(jobs), numbers(jobs)
        """For each suspended job: its last computed toll, the number of the state of the running jobs at that time, and
        the running job whose price is this toll (-1 if it has left)
        """
        self.moment = times(0)
        """For each idle job: a time before which its xfactor is below its toll"""
        self.turn_of, self.turn_at = -1, INFINITE
        """The job that had the last turn at this tick, -1 for none, and its xfactor"""
        # Of the finished jobs by category
        self.ended, self.slowed = numbers(KINDS_OF_JOBS), times(KINDS_OF_JOBS)

    # A pass

    def _decide(self) -> None:
        self._forget_request()
        self.rules.decide(self)
        self.credit -= self.paused

    def _next_end(self) -> float:
        return self.end_at[0] if self.running else INFINITE

    def _needs_own(self, rank: int) -> bool:
        return self.pauses.keeper[rank] >= 0

    def _count_unclaimed(self) -> int:
        return self.free

    # Turns at a tick

    def _begin_turns(self) -> None:
        self.turn_of, self.turn_at = -1, INFINITE

    def _next_turn(self) -> int:
        """Return the idle job whose turn is next, or -1: the one with the largest xfactor that fits or may preempt.

        A job that was suspended in this step has no turn.
        """
        last, after, following, at = self.turn_of, self.turn_at, -1, 0.0
        idle = self._idle()
        rank: int
        for rank in idle:
            if self.now < self.moment[rank] and not self._fits(rank):
                continue
            xfactor = self.terms.xfactor(self, rank)
            if xfactor > after or (xfactor == after and rank <= last) or xfactor < at:
                continue
            if following >= 0 and xfactor == at and rank > following:
                continue
            if self.paused_in[rank] == self.step and self.pauses.keeper[rank] >= 0:
                continue
            if self._fits(rank) or reaches(xfactor, self._known_toll(rank), self.estimate[rank]):
                following, at = rank, xfactor
        self.turn_of, self.turn_at = following, at
        return following

    # Running jobs

    def _by_threshold(self) -> Numbers:
        if self.listed_in != self.stamp:
            self.listed_in = self.stamp
            for index in range(self.sorted_count):
                self.sorted_ranks[index] = -self.sorted_of[index]
        return self.sorted_ranks[: self.sorted_count]

    def _on_own(self, rank: int) -> Numbers:
        self.own_count = 0
        for index in range(self.sorted_count):
            other = -self.sorted_of[index]
            if self.sets.meets(other, rank):
                self.own_ranks[self.own_count] = other
                self.own_count += 1
        return self.own_ranks[: self.own_count]

    def _known_threshold(self, rank: int) -> float:
        return self.threshold[rank]

    def _comes_to_run(self, rank: int, ran: float) -> None:
        self._stand(rank)

    def _has_left(self, rank: int) -> None:
        self._step_down(rank)

    def _stand(self, rank: int) -> None:
        """Add a running job to the sorted jobs; it can only raise tolls."""
        self.threshold[rank] = self.terms.threshold(self, rank)
        insert_pair(self.sorted_at, self.sorted_of, self.sorted_count, self.threshold[rank], -rank)
        self.sorted_count += 1
        self.stamp += 1

    def _step_down(self, rank: int) -> None:
        """Remove a job from the sorted jobs, and forget the tolls that it determined."""
        remove_pair(self.sorted_at, self.sorted_of, self.sorted_count, self.threshold[rank], -rank)
        self.sorted_count -= 1
        self.stamp += 1
        paused = self.pauses.first[0]
        while paused >= 0:
            if self.keeper[paused] == rank:
                self._is_set_aside(paused, self.l_ran[paused])
            paused = self.pauses.then[paused]

    # Tolls

    def _known_toll(self, rank: int) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        if self.pauses.keeper[rank] < 0:
            procs = self.procs[rank]
            if self.priced_at[procs] != self.stamp:
                self.priced_at[procs] = self.stamp
                self.prices[procs] = self.terms.toll(self, rank)
            return self.prices[procs]
        if self.known_at[rank] != self.stamp:
            toll = self.terms.toll(self, rank)
            self.known_at[rank], self.tolls[rank] = self.stamp, toll
            self.moment[rank] = payable_from(self.submit[rank] + self.l_ran[rank], toll, self.estimate[rank])
            index = self.own_count - 1
            while index >= 0:
                self.keeper[rank] = self.own_ranks[index]
                if toll < INFINITE or self.terms.price(self, rank, self.keeper[rank]) == INFINITE:
                    break
                index -= 1
        return self.tolls[rank]

    def _is_set_aside(self, rank: int, ran: float) -> None:
        """Forget the toll of a suspended job, which has run for `ran` seconds. No toll is below `sf`."""
        self.keeper[rank] = self.known_at[rank] = -1
        self.moment[rank] = payable_from(self.submit[rank] + ran, self.sf, self.estimate[rank])

    def _first_payable(self, soon: float, end: float) -> float:
        """Return the first time before `end` at which an idle job's xfactor reaches its toll, or `end`.

        The result need not be exact if it is at most `soon`.
        """
        first, rank = end, self.pauses.first[0]
        while rank >= 0 and first > soon:
            if self.moment[rank] < first:
                self._known_toll(rank)
                first = min(first, self.moment[rank])
            rank = self.pauses.then[rank]
        for index in range(self.waiting):
            rank = self.queue[index]
            if self.moment[rank] < first and first > soon:
                toll = self._known_toll(rank)
                first = min(first, payable_from(self.submit[rank], toll, self.estimate[rank]))
        return first

    # Slowdowns of finished jobs

    def _newly_finished(self) -> Numbers:
        return self.done[: self.completed]

    def _count(self, rank: int, more: float) -> None:
        kind = self.category[rank]
        self.ended[kind] += 1
        self.slowed[kind] = self.slowed[kind] + 1 + more

    def _counted(self, rank: int) -> int:
        return self.ended[self.category[rank]]

    def _slowdowns(self, rank: int) -> float:
        return self.slowed[self.category[rank]]

    def _review(self) -> None:
        if self.completed:
            for index in range(self.running):
                rank = self.end_rank[index]
                if self.terms.threshold(self, rank) != self.threshold[rank]:
                    self._step_down(rank)
                    self._stand(rank)
