"""Partitions in the fast loop, with owned processors and lending: the rules of `sim.policies.multiqueue.partitions`
over columns.

The processors of a running job belong to its partition as long as it runs, so the idle ones of each partition are
known.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.loop import Loop
from sim.kernel.sets import Sets
from sim.machine import cython
from sim.machine.columns import Processors, numbers


@cython.cclass
class Partitions(Loop):
    """Fast loop in which a job gets the lowest-numbered idle processors of its partition, which borrows the missing
    ones.
    """

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.borrows_as = 0
        self.partition_of = numbers(0)
        """Number of each job's partition, by rank"""
        self.borrowed = 0
        self.has_borrowed = False
        """True if a processor has changed its owner in this pass"""
        self.whole_sets: list[Processors] = []
        self.boundaries: list[Any] = []
        self.boundary_step: Any = []
        """Column of the history with the steps in which the partitions' processors changed"""

    # From a state of the engine, and back

    def divide(self, jobs: int, procs: int, partitions: int) -> None:
        """Set up the columns of the partitions."""
        self.partitions = partitions
        self.sets = Sets(jobs + 2 * partitions + 1, procs)
        self.idle_set, self.owned_set, self.lent_set = jobs, jobs + partitions, jobs + 2 * partitions
        self.idle = numbers(partitions)
        """Number of idle processors of each partition"""

    def enter_partition(self, partition: int, owned: Processors, idle: Processors) -> None:
        """Copy a partition's owned and idle processors into the loop, both as bits."""
        self.sets.put(self.owned_set + partition, owned)
        self.sets.put(self.idle_set + partition, idle)
        self.idle[partition] = idle.bit_count()

    def owners(self) -> list[Processors]:
        """Return the processors that each partition owns, as bits."""
        return [self.sets.told(self.owned_set + partition) for partition in range(self.partitions)]

    def free_set(self) -> Processors:
        """Return the idle processors of all partitions, as bits."""
        return sum([self.sets.told(self.idle_set + partition) for partition in range(self.partitions)])

    # Processors

    def _hold(self, rank: int, procs: int) -> None:
        """Give the job the lowest-numbered idle processors of its partition, which borrows as many as it lacks."""
        partition = self.partition_of[rank]
        if procs > self.idle[partition]:
            self._borrow(rank, partition, procs - self.idle[partition])
        self.idle[partition] -= procs
        self.free -= procs
        self.held_at[rank] = rank
        self.h_place[self.begun] = -1 - len(self.whole_sets)
        self.whole_sets.append(self.sets.move(rank, self.idle_set + partition, procs))

    def _give_back(self, at: int, procs: int) -> None:
        """Free the processors of a job that has left, at index `at` of the history's ranges."""
        partition = self.partition_of[at]
        self.sets.add(self.idle_set + partition, at)
        self.idle[partition] += procs
        self.free += procs

    def _borrow(self, rank: int, to: int, lacking: int) -> None:
        """Let partition `to` borrow `lacking` processors for the job: from the partition with the most idle ones first,
        lowest numbers first.
        """
        sets, idle, lent_set = self.sets, self.idle, self.lent_set
        self.has_borrowed = True
        self.borrowed += lacking
        while lacking > 0:
            lender = -1
            for partition in range(self.partitions):
                if partition != to and (lender < 0 or idle[partition] > idle[lender]):
                    lender = partition
            lent = idle[lender]
            if lent > lacking:
                lent = lacking
            self._note(self.borrows_as, rank, -1, to, lender, -1 - len(self.whole_sets))
            self.whole_sets.append(sets.move(lent_set, self.idle_set + lender, lent))
            sets.add(self.idle_set + to, lent_set)
            sets.add(self.owned_set + to, lent_set)
            sets.drop(self.owned_set + lender, lent_set)
            idle[lender] -= lent
            idle[to] += lent
            lacking -= lent

    def _move_boundaries(self) -> None:
        """Write the processors that each partition owns now to the history."""
        self.has_borrowed = False
        self.boundaries.append((self.now, tuple(self.owners())))
        self.boundary_step.append(self.step)
