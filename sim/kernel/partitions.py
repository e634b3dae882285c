"""Partitions in the fast loop (which keeps the state in arrays): partitions own processors and lend idle ones to each
other.

The rules are those of `sim.policies.multiqueue.partitions`. The processors of a running job belong to its partition as
long as it runs, so the idle processors of each partition are known.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import numbers
from sim.kernel.loop import Loop
from sim.kernel.sets import Sets
from sim.machine import cython
from sim.machine.columns import Processors
from sim.policies.multiqueue.lending import lender


@cython.cclass
class Partitions(Loop):
    """Fast loop in which a job gets the lowest-numbered idle processors of its partition; a partition with too few
    borrows from others.
    """

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.borrows_as = 0
        self.partition_of = numbers(0)
        """For each job, by rank: the number of its partition"""
        self.borrowed = 0
        self.has_borrowed = False
        """True if a partition has borrowed processors in this pass"""
        self.whole_sets: list[Processors] = []
        self.boundaries: list[Any] = []
        self.boundary_step: Any = []
        """Column of the history: numbers of the steps in which processors changed their owner"""

    # From a state of the engine, and back

    def divide(self, jobs: int, procs: int, partitions: int) -> None:
        """Create the columns and sets for this many jobs, processors and partitions."""
        self.partitions = partitions
        self.sets = Sets(jobs + 2 * partitions + 1, procs)
        self.idle_set, self.owned_set, self.lent_set = jobs, jobs + partitions, jobs + 2 * partitions
        self.idle = numbers(partitions)
        """For each partition: its number of idle processors"""

    def enter_partition(self, partition: int, owned: Processors, idle: Processors) -> None:
        """Copy the processors that the partition owns (`owned`) and the idle ones among them (`idle`) into the loop;
        both sets are given as bits.
        """
        self.sets.put(self.owned_set + partition, owned)
        self.sets.put(self.idle_set + partition, idle)
        self.idle[partition] = idle.bit_count()

    def owners(self) -> list[Processors]:
        """Return, for each partition, the processors that it owns, as bits."""
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
        """Free the `procs` processors of the job with rank `at`, which has left."""
        partition = self.partition_of[at]
        self.sets.add(self.idle_set + partition, at)
        self.idle[partition] += procs
        self.free += procs

    def _borrow(self, rank: int, to: int, lacking: int) -> None:
        """Move `lacking` idle processors from other partitions to the partition `to`, so that the job `rank` can start
        there.

        The partition with the most idle processors lends first, and each lends its lowest-numbered ones.
        """
        sets, idle, lent_set = self.sets, self.idle, self.lent_set
        self.has_borrowed = True
        self.borrowed += lacking
        while lacking > 0:
            lends = lender(idle, self.partitions, to)
            lent = idle[lends]
            if lent > lacking:
                lent = lacking
            self._note(self.borrows_as, rank, -1, to, lends, -1 - len(self.whole_sets))
            self.whole_sets.append(sets.move(lent_set, self.idle_set + lends, lent))
            sets.add(self.idle_set + to, lent_set)
            sets.add(self.owned_set + to, lent_set)
            sets.drop(self.owned_set + lends, lent_set)
            idle[lends] -= lent
            idle[to] += lent
            lacking -= lent

    def _move_boundaries(self) -> None:
        """Write the processors that each partition owns now to the history, as at least one of them has changed."""
        self.has_borrowed = False
        self.boundaries.append((self.now, tuple(self.owners())))
        self.boundary_step.append(self.step)
