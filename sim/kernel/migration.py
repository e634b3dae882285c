"""Migration of jobs to other columns of the matrix in the fast loop, by the rules of `sim.policies.gang.migration`.

In this module A is the job that is to get a row. Either A moves to other columns, or the jobs in its columns move away.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.gang import GangLoop
from sim.machine import cython
from sim.machine.columns import numbers


@cython.cclass
class MigratingLoop(GangLoop):
    """Fast loop of gang scheduling with or without migration."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        GangLoop.__init__(self, jobs, procs, most_running)
        self.cost, self.tasks = 0.0, 0
        self.migrated_in = numbers(jobs)
        """For each job (by rank): number of the last rebuild of the matrix in which the job migrated"""
        self.taken_set = 0
        """Index of the set of columns that count as taken in the row of slot 0; the set of slot i has an index greater
        by i. The sets are `row_set` without replicas or, when replicas count, `full_set`
        """
        self.aside, self.asides, self.tasks_aside = numbers(jobs), 0, 0
        """Jobs that are in A's columns, their number, and the total number of their tasks"""

    def enter_migration(self, cost: float, tasks: int) -> None:
        """Set the seconds that a job loses when it migrates, and the largest number of tasks that may migrate at a
        rebuild.
        """
        self.migrates, self.may_stall, self.cost, self.most_tasks = True, True, cost, tasks

    def _rebuild(self) -> None:
        if not self.migrates:
            GangLoop._rebuild(self)
            return
        self.tasks, self.taken_set = self.most_tasks, self.row_set
        if self.copies:
            self.gone.clear()
        self._keep_replicas(0)
        self._compact()
        self.rebuilds += 1
        self._schedule()
        if self._compact_migrating():
            self._schedule()
        self._fill()
        self.taken_set = self.full_set
        self._fill_migrating()

    def _has_migrated(self, rank: int) -> bool:
        if self.migrated_in[rank] != self.rebuilds:
            return False
        has: bool = self.whole_sets[~self.set_at[rank]] != self.whole_sets[-1 - self.h_place[self.h_last[rank]]]
        return has

    # Compaction: A leaves its row

    def _compact_migrating(self) -> bool:
        """Move jobs to more populated rows, with migration where it is needed; return True if a job moved."""
        self._rank_rows()
        self.apart = 0
        self.are_reserved = False
        has_moved = False
        for index in range(self.rows - 1):
            row = self.ranked[index]
            for turn in range(self.rows - 1, index, -1):
                for place in range(self.standing):
                    rank = self.placed[place]
                    if self.home[rank] == row and self._moves_to(rank, row, self.ranked[turn]):
                        has_moved = True
        self._drop_empty_rows()
        return has_moved

    def _moves_to(self, rank: int, row: int, target: int) -> bool:
        """Move the job from `row` to the row `target` if possible; return True if it moved."""
        if not self.sets.meets(rank, self.row_set + target):
            if not self._may_move(rank, target):
                return False
            self._leave_row(rank, row)
            self._settle_in(rank, target)
            return True
        if not self._can_bring(rank, target) or not self._may_move(rank, target):
            return False
        self._bring(rank, row, target)
        return True

    def _can_bring(self, rank: int, target: int) -> bool:
        """Return True if A (the job `rank`) can move into the row `target`, which must have enough free columns.

        A itself, or the jobs that use its columns there, must also have no more tasks than may still migrate.
        """
        procs: int = self.procs[rank]
        if procs > self.room[target] or not self.tasks:
            return False
        self._find_in_the_way(rank, target)
        return min(procs, self.tasks_aside) <= self.tasks

    def _bring(self, rank: int, row: int, target: int) -> None:
        """Move A from `row` into the row `target` in the cheaper way: either A takes other, free columns there, or the
        jobs that use its columns there do.
        """
        size, aside, cost = self.procs[rank], self.tasks_aside, self.cost
        first, second = cost / 2 * size + cost * aside, cost * size + cost / 2 * aside
        if size > self.tasks or (aside <= self.tasks and first <= second):
            why: Any = self.teller.makes_way(rank, first, second if size <= self.tasks else None)
            self._move_aside(rank, target, why)
            self._leave_row(rank, row)
            self._settle_in(rank, target)
            self._lose(rank, why)
            return
        why = self.teller.other_columns(second, first if aside <= self.tasks else None)
        self._leave_row(rank, row)
        self._migrate(rank, target, rank, why)
        for index in range(self.asides):
            self._lose(self.aside[index], why)

    # Filling: A stays where it is, and is replicated

    def _fill_migrating(self) -> None:
        has_changed = self.rows > 1 and self.tasks > 0
        while has_changed:
            has_changed = False
            for place in range(self.standing):
                if self._finds_row_migrating(self.placed[place]):
                    has_changed = True

    def _finds_row_migrating(self, rank: int) -> bool:
        """Add a replica of the job in the first row where this is possible, possibly by moving jobs out of its columns;
        return True if a row was found.
        """
        for index in range(self.rows):
            slot = self.order[index]
            if not self.stands[rank] >> slot & 1 and self._can_replicate(rank, slot):
                why: Any = None
                if self.asides:
                    cost = self.cost / 2 * self.procs[rank] + self.cost * self.tasks_aside
                    why = self.teller.makes_way(rank, cost, None)
                    self._move_aside(rank, slot, why)
                self.sets.add(self.full_set + slot, rank)
                self._stand_too(rank, slot)
                if self.asides:
                    self._lose(rank, why)
                return True
        return False

    def _can_replicate(self, rank: int, slot: int) -> bool:
        if self.procs[rank] > self.empty[slot]:
            return False
        self._find_in_the_way(rank, slot)
        for index in range(self.asides):
            other = self.aside[index]
            if self.stands[other] != 1 << self.home[other]:
                return False
        can: bool = self.tasks_aside <= self.tasks
        return can

    # Both

    def _find_in_the_way(self, rank: int, slot: int) -> None:
        """List the jobs in the row of this slot that use columns of the job `rank`, in order of placement, in
        `aside`.
        """
        self.asides = self.tasks_aside = 0
        if not self.sets.meets(rank, self.taken_set + slot):
            return
        for place in range(self.standing):
            other = self.placed[place]
            if self.stands[other] >> slot & 1 and self.sets.meets(rank, other):
                self.aside[self.asides] = other
                self.asides += 1
                self.tasks_aside += self.procs[other]

    def _move_aside(self, for_rank: int, slot: int, why: Any) -> None:
        """Move the listed jobs out of the columns of the job `for_rank`, one by one, for the reason `why`.

        They fit, because the row has enough columns for all its jobs and this one.
        """
        for index in range(self.asides):
            rank = self.aside[index]
            self._leave_row(rank, slot)
            self.sets.drop(self.full_set + slot, rank)
            self._migrate(rank, slot, for_rank, why)

    def _migrate(self, rank: int, slot: int, beside: int, why: Any) -> None:
        """Put the job, which has left its row, into the row of this slot: on the lowest free columns that the job
        `beside` does not use.

        If the job moves itself, `beside` is its own rank and has no effect.
        """
        sets, procs = self.sets, self.procs[rank]
        sets.become(self.open_set, self.every_set)
        sets.drop(self.open_set, self.taken_set + slot)
        if beside != rank:
            sets.drop(self.open_set, beside)
        sets.drop(rank, rank)
        sets.take(rank, self.open_set, procs)
        self._settle_in(rank, slot)
        sets.add(self.full_set + slot, rank)
        self._note_columns(rank)
        self.tasks -= procs
        self.stall[rank] += self.cost
        self._find_need(rank)
        self.migrated_in[rank] = self.rebuilds
        columns = self.whole_sets[~self.set_at[rank]]
        self._keep(rank, self.teller.migrated(rank, self.id_of[slot], columns, self.cost, why))

    def _lose(self, rank: int, why: Any) -> None:
        """Let the job lose half of `cost`, in seconds of its turns, because other jobs migrate for the reason `why`."""
        if self.cost:
            self.stall[rank] += self.cost / 2
            self._find_need(rank)
            self._keep(rank, self.teller.stalled(rank, self.cost / 2, why))
