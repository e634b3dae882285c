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
from sim.policies.preempt.xfactors import payable_from

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
        self.least, self.is_known = times(jobs), numbers(jobs)
        """For each suspended job: a value that its toll is not below, and 1 if this is the toll, otherwise 0"""
        self.moment = times(0)
        """For each idle job: a time before which its xfactor is below its toll"""
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

    # Running jobs

    def _by_threshold(self) -> Numbers:
        if self.listed_in != self.stamp:
            self.listed_in = self.stamp
            for index in range(self.sorted_count):
                self.sorted_ranks[index] = -self.sorted_of[index]
        return self.sorted_ranks[: self.sorted_count]

    def _on_own(self, rank: int) -> Numbers:
        count = 0
        for index in range(self.sorted_count):
            other = -self.sorted_of[index]
            if self.sets.meets(other, rank):
                self.own_ranks[count] = other
                count += 1
        return self.own_ranks[:count]

    def _known_threshold(self, rank: int) -> float:
        return self.threshold[rank]

    def _comes_to_run(self, rank: int, ran: float) -> None:
        self._stand(rank)

    def _has_left(self, rank: int) -> None:
        self._step_down(rank)

    def _stand(self, rank: int) -> None:
        """Add a running job to the sorted jobs, and raise the tolls that it determines."""
        self.threshold[rank] = self.terms.threshold(self, rank)
        insert_pair(self.sorted_at, self.sorted_of, self.sorted_count, self.threshold[rank], -rank)
        self.sorted_count += 1
        self._update(rank, False)

    def _step_down(self, rank: int) -> None:
        """Remove a job from the sorted jobs, and forget the tolls that it may have determined."""
        remove_pair(self.sorted_at, self.sorted_of, self.sorted_count, self.threshold[rank], -rank)
        self.sorted_count -= 1
        self._update(rank, True)

    # Tolls

    def _may_pay(self, rank: int) -> bool:
        return self.now >= self.moment[rank]

    def _known_toll(self, rank: int) -> float:
        """Return the toll of the idle job, which is computed again only if it may have changed."""
        if self.pauses.keeper[rank] < 0:
            procs = self.procs[rank]
            if self.priced_at[procs] != self.stamp:
                self.priced_at[procs] = self.stamp
                self.prices[procs] = self.terms.toll(self, rank)
            return self.prices[procs]
        if not self.is_known[rank]:
            self.is_known[rank] = 1
            self._raise(rank, self.l_ran[rank], self.terms.toll(self, rank))
        return self.least[rank]

    def _raise(self, rank: int, ran: float, least: float) -> None:
        """Remember that the toll of the suspended job, which has run for `ran` seconds, is at least `least`."""
        self.least[rank] = least
        self.moment[rank] = payable_from(self.submit[rank] + ran, least, self.estimate[rank])

    def _update(self, other: int, has_left: bool) -> None:
        """Update the tolls because the job `other` has started or, if `has_left`, has left its processors."""
        sets, pauses, least = self.sets, self.pauses, self.least
        self.stamp += 1
        if not sets.meets(self.waited_for_set, other):  # what no suspended job needs
            return
        rank = pauses.first[0]
        while rank >= 0:
            if sets.meets(rank, other):
                price = self.terms.price(self, rank, other)
                if not has_left and price > least[rank]:
                    self._raise(rank, self.l_ran[rank], price)
                elif has_left and price >= least[rank]:  # it may have determined the toll
                    self.is_known[rank] = 0
                    self._raise(rank, self.l_ran[rank], self.sf)
            rank = pauses.then[rank]

    def _is_set_aside(self, rank: int, ran: float) -> None:
        self.is_known[rank] = 0
        self._raise(rank, ran, self.sf)

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
