"""Immediate service in the fast loop (the simulation over arrays of numbers), by the rules of
`sim.policies.preempt.immediate`.

A running job is called served once it has used up its slice of time; only served jobs can be suspended.
"""

from __future__ import annotations

from sim.kernel.suspension import Suspension
from sim.machine import cython
from sim.machine.columns import INFINITE, growing_numbers, growing_times, numbers, remove_numbers, remove_times
from sim.machine.moment import MOMENT, whole
from sim.machine.operations import insert_pair, remove_step


@cython.cclass
class ImmediateLoop(Suspension):
    """Fast loop of immediate service: a new job suspends jobs that have used up their slice; a timer is set for the end
    of a slice that a waiting job needs.
    """

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Suspension.__init__(self, jobs, procs, most_running)
        self.slice = 0.0
        self.is_to_wake = numbers(jobs)
        """For each job 1 if it runs and a pass is needed when its slice is used up, otherwise 0"""
        self.served_at, self.served_of, self.served = growing_times(most_running), growing_numbers(most_running), 0
        """Running jobs that have used up their slice, sorted by instantaneous xfactor: the xfactors, the negative
        ranks, and the number of these jobs
        """

    # From a state of the engine, and back

    def enter_wake(self, at: float, rank: int) -> None:
        """Copy the timer for the end of this job's slice at the time `at` into the loop."""
        self._wake(at, rank)

    def wakes(self) -> list[tuple[float, int]]:
        """Return (time, rank) of the timers, each for the end of a job's slice."""
        return [(self.reserved_at[index], self.reserved_rank[index]) for index in range(self.reservations)]

    # A pass

    def _decide(self) -> None:
        while self.reservations and self.reserved_at[0] <= self.now:
            self._forget_wake(self.reserved_rank[0])
        self._go_on()
        index, is_disappointed = 0, False
        if self.waiting:
            self._find_served()
        while index < self.waiting:
            rank = self.queue[index]
            if self.procs[rank] <= self.free:
                self._take_room(rank)
            elif not self._preempt(rank):
                is_disappointed = True
                index += 1
        if is_disappointed:
            self._wake_next()
        self.credit -= self.paused

    def _urgency(self, rank: int) -> float:
        """Return the instantaneous xfactor of an idle job, by which such jobs are sorted: seconds since submission over
        seconds run.
        """
        ran: float = whole(self.l_ran[rank])
        return whole(self.now - self.submit[rank]) / ran if ran else INFINITE

    def _has_left(self, rank: int) -> None:
        if self.is_to_wake[rank]:
            self._forget_wake(rank)

    def _slice_over(self, rank: int) -> float:
        over: float = self.since[rank] + self.slice - self.l_ran[rank]
        return over

    def _find_served(self) -> None:
        """Find the running jobs that have used up their slice, and sort them, the lowest instantaneous xfactor
        first.
        """
        if self.served:
            remove_times(self.served_at, self.served, 0, self.served)
            remove_numbers(self.served_of, self.served, 0, self.served)
            self.served = 0
        for index in range(self.running):
            rank = self.end_rank[index]
            if self._slice_over(rank) <= self.now + MOMENT:
                suffering = self._suffering(rank)
                insert_pair(self.served_at, self.served_of, self.served, suffering, -rank)
                self.served += 1

    def _suffering(self, rank: int) -> float:
        """Return the instantaneous xfactor of a running job: time since submit over time run."""
        ran = whole(self.l_ran[rank] + self.now - self.since[rank])
        return whole(self.now - self.submit[rank]) / ran if ran else INFINITE

    def _preempt(self, rank: int) -> bool:
        """Start the new job `rank` in place of served jobs with the lowest instantaneous xfactors; return False if
        these have too few processors.
        """
        needed, found, count = self.procs[rank] - self.free, 0, 0
        while count < self.served and found < needed:
            self.scratch[count] = -self.served_of[count]
            found += self.procs[self.scratch[count]]
            count += 1
        count = self._spare_unneeded(count, found, needed)
        if not count:
            return False
        self._place_among(rank, count)
        place, first = 0, 0
        for index in range(count):
            other = self.scratch[index]
            while -self.served_of[place] != other:
                place += 1
            self._suspend(other, rank, self.served_at[place], self.slice, place + 1)
        for index in range(count):
            while -self.served_of[first] != self.scratch[index]:
                first += 1
            remove_step(self.served_at, self.served_of, self.served, first)
            self.served -= 1
        self._start_there(rank, self.takes_as, count)
        return True

    # When to look again

    def _wake_next(self) -> None:
        """Set the timer for the end of the next slice; if two end together, for the job that started first."""
        soonest, next_of = INFINITE, -1
        for index in range(self.running):
            rank = self.end_rank[index]
            over = self._slice_over(rank)
            if over > self.now + MOMENT and (
                over < soonest or (over == soonest and self.h_last[rank] < self.h_last[next_of])
            ):
                soonest, next_of = over, rank
        if next_of >= 0 and not self.is_to_wake[next_of]:
            self._wake(soonest, next_of)

    def _wake(self, at: float, rank: int) -> None:
        insert_pair(self.reserved_at, self.reserved_rank, self.reservations, at, rank)
        self.reservations += 1
        self.is_to_wake[rank] = 1

    def _forget_wake(self, rank: int) -> None:
        """Remove the job's timer, which is over or no longer needed."""
        place = 0
        while self.reserved_rank[place] != rank:
            place += 1
        remove_step(self.reserved_at, self.reserved_rank, self.reservations, place)
        self.reservations -= 1
        self.is_to_wake[rank] = 0
