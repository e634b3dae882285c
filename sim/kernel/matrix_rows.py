"""Rows of the Ousterhout matrix in the fast loop: what gang scheduling policies ask and change in a rebuild
(`sim.policies.gang.rows_pass`), over arrays of numbers.

Each row of the matrix has a slot: the index of its entry in the columns (arrays). Policies name rows by their slots.
"""

from __future__ import annotations

from typing import Any

from sim.history.decision_log import AS_IT_IS
from sim.kernel.arrays import copy_numbers, most_first, numbers
from sim.kernel.sharing import Sharing
from sim.machine import cython
from sim.machine.columns import Numbers
from sim.machine.operations import are_same, common_pairs, place_of

KEPT: int = AS_IT_IS
NOTHING = float("nan")
"""Value that stands for missing numbers in the log of decisions"""


@cython.cclass
class MatrixRows(Sharing):
    """State of a run with an Ousterhout matrix, with the queries and calls about its rows."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Sharing.__init__(self, jobs, procs, most_running)
        self.teller: Any = None
        """Function that stores the decision that a job migrates, which has no compact form, and returns its index"""
        self.has_rebuilt = False
        """True if the matrix was rebuilt since the state was copied into the loop"""
        # Results of the present rebuild
        self.is_still = self.is_as_it_was = False
        """Two flags: True if the last rebuild changed nothing; True if moreover no job has completed since, so that
        the present rebuild moves no job either
        """
        self.stood_before = 0
        """Number of jobs in the matrix when the rebuild began"""
        self.many_ranked = self.hopeful = self.movables = 0
        """`many_ranked`: number of ranked rows. `hopeful`: how many jobs of all rows may find another row. `movables`:
        how many jobs of the row that is considered now may
        """
        self.targeted = numbers(0)
        """Column with the result of `targets`, which the next call overwrites"""
        self.nexts, self.lefts, self.is_filled = 0, 0, False
        """Number of the replicas that the rebuild has decided on; number of the jobs that got one in this round; and
        True if the first round has begun
        """
        # Migration
        self.migrated, self.migrated_in = 0, numbers(jobs)
        """Number of tasks that have migrated in this rebuild. And for each job, by rank: the step, counted from 1, in
        which it last migrated
        """
        self.migrations, self.stalled = 0, 0.0
        """Totals of the whole run: jobs that migrated, and processor-seconds lost to migrations"""
        self.taken_set = 0
        """Index of the set of columns that count as taken in the row of slot 0; the set of slot i has an index greater
        by i. The sets are `row_set` without replicas or, when replicas count, `full_set`
        """
        self.aside = numbers(jobs)
        """Column with the result of `in_the_way`, which the next call overwrites"""

    def enter_tasks(self, most_tasks: int) -> None:
        """Set up the columns of the rows. At most `most_tasks` tasks may migrate at a rebuild, -1 under a policy
        without migration.
        """
        slots = self.mpl + 1
        self.migrates = self.may_stall = most_tasks >= 0
        self.most_tasks = max(most_tasks, 0)
        self.next_of, self.next_in = numbers(slots * self.size), numbers(slots * self.size)
        """Replicas (copies in other rows) that this rebuild will add: ranks of their jobs, and slots of these rows"""
        self.ranked, self.were_ranked, self.targeted = numbers(slots), numbers(slots), numbers(slots)

    # A rebuild

    def _clean(self) -> None:
        """Begin a rebuild. Replicas are removed at its end, if it has not decided to add them again."""
        if self.copies:
            self.gone.clear()
        self.has_rebuilt = True
        self.is_as_it_was = self.is_still and not self.completed and not self.migrates
        self.stood_before, self.nexts, self.is_filled, self.migrated = self.standing, 0, False, 0
        self.taken_set = self.row_set
        if self.migrates:
            self._keep_replicas(0)

    def _settle_replicas(self) -> None:
        """Remove the replicas of the last rebuild and add those of this one; what stays the same is not touched."""
        if self.migrates or self._changes_nothing():
            return
        ranks, slots = self.next_of, self.next_in
        kept = common_pairs(self.replica_of, self.replica_in, self.replicas, ranks, slots, self.nexts)
        self._keep_replicas(kept)
        self.next_of, self.next_in, self.replica_of, self.replica_in = self.replica_of, self.replica_in, ranks, slots
        self._add_replicas(kept, self.nexts)

    def _changes_nothing(self) -> bool:
        """Return True if this rebuild is certain to leave the matrix as it was, after jobs were placed."""
        self.is_still = self.is_still and self.standing == self.stood_before
        return self.is_as_it_was and self.is_still

    # Rows by population

    def _ranked_rows(self) -> MatrixRows:
        """Sort the rows from the least to the most populated, of equally populated rows the later first."""
        many, ranked, self.ranked = self.many_ranked, self.ranked, self.were_ranked
        self.were_ranked, self.many_ranked = ranked, self.rows
        most_first(self.order, self.rows, self.room, self.ranked)
        if self.migrates or many != self.rows or not are_same(self.ranked, ranked, many):
            self.apart = 0
        return self

    def _all_rows(self) -> Numbers:
        return self.ranked[: self.rows]

    def _emptier_rows(self) -> Numbers:
        if self.is_as_it_was:
            return self.ranked[:0]
        self.hopeful = 0
        if self.rows > 1:
            self.hopeful = self.sets.movable(
                self.placed, self.apart, self.standing, self.row_set, self.ranked, self.rows, self.home, self.scratch,
                self.open_set,
            )  # fmt: skip
        self.is_still, self.apart = not self.hopeful, 0 if self.hopeful else self.standing
        if not self.hopeful:
            return self.ranked[:0]
        self._keep_replicas(0)
        return self.ranked[: self.rows - 1]

    def _fuller_rows(self, row: int) -> Numbers:
        count, turn = 0, self.rows - 1
        while self.ranked[turn] != row:
            self.targeted[count] = self.ranked[turn]
            count += 1
            turn -= 1
        return self.targeted[:count]

    def _targets(self, row: int) -> Numbers:
        many, place = 0, place_of(self.ranked, self.rows, row)
        for index in range(self.hopeful):
            if self.home[self.scratch[index]] == row:
                self.turn[many] = self.scratch[index]
                many += 1
        if many:
            many = self.sets.keep_apart(self.turn, many, self.row_set, self.ranked, place + 1, self.rows, self.open_set)
        self.movables = many
        return self._fuller_rows(row) if many else self.ranked[:0]

    def _movable(self, row: int, target: int) -> Numbers:
        kept = 0
        for index in range(self.movables):
            rank = self.turn[index]
            if self.home[rank] == row:
                self.turn[kept] = rank
                kept += 1
        self.movables = kept
        return self.turn[:kept]

    def _narrow_enough(self, row: int, target: int) -> Numbers:
        many, free = 0, self.room[target]
        for index in range(self.standing):
            rank = self.placed[index]
            if self.home[rank] == row and self.procs[rank] <= free:
                self.turn[many] = rank
                many += 1
        return self.turn[:many]

    # Questions about rows and jobs

    def _are_free(self, job: int, row: int) -> bool:
        return not self.sets.meets(job, self.row_set + row)

    def _free_in(self, row: int) -> int:
        free: int = self.empty[row] if self.migrates else self.room[row]
        return free

    def _remaining_estimate(self, job: int) -> float:
        return self.estimate[job] - self.ran[place_of(self.placed, self.standing, job)]

    def _fullest_row(self, job: int) -> int:
        return self._fullest(self.procs[job])

    def _has_row_for(self, job: int) -> bool:
        return self._fullest(self.procs[job]) >= 0

    def _fullest(self, procs: int) -> int:
        """Return the slot of the row with the fewest free columns of those with at least `procs`, -1 if there is
        none.
        """
        best = -1
        for index in range(self.rows):
            slot = self.order[index]
            if self.room[slot] >= procs and (best < 0 or self.room[slot] < self.room[best]):
                best = slot
        return best

    def _placed(self) -> Numbers:
        return self.placed[: self.standing]

    def _other_rows(self, job: int) -> Numbers:
        count = 0
        for index in range(self.rows):
            slot = self.order[index]
            if self.procs[job] <= self._free_in(slot) and not self.stands[job] >> slot & 1:
                self.targeted[count] = slot
                count += 1
        return self.targeted[:count]

    def _is_replicated(self, job: int) -> bool:
        return self.stands[job] != 1 << self.home[job]

    def _in_the_way(self, job: int, row: int) -> Numbers:
        count = 0
        if self.sets.meets(job, self.taken_set + row):
            for place in range(self.standing):
                other = self.placed[place]
                if self.stands[other] >> row & 1 and self.sets.meets(job, other):
                    self.aside[count] = other
                    count += 1
        return self.aside[:count]

    def _tasks_in_the_way(self, job: int, row: int) -> int:
        others, total = self._in_the_way(job, row), 0
        for index in range(len(others)):
            total += self.procs[others[index]]
        return total

    # Changes of rows

    def _drop_rows(self) -> None:
        self._drop_empty_rows()

    def _rehome(self, job: int, row: int) -> None:
        self._leave_row(job, self.home[job])
        self._settle_in(job, row)

    # Replicas

    def _replicable(self) -> Numbers:
        """Return the jobs that may find a row for a replica: in the first round all jobs, later the jobs that found a
        row in the round before.
        """
        sets = self.sets
        if not self.is_filled:
            if self._changes_nothing():
                return self.scratch[:0]
            self.is_filled = True
            for index in range(self.rows):
                sets.become(self.full_set + self.order[index], self.row_set + self.order[index])
            self.taken_set = self.full_set
            copy_numbers(self.placed, self.scratch, self.standing)
            self.lefts = self.standing
        self.hopeful = sets.keep_apart(self.scratch, self.lefts, self.full_set, self.order, 0, self.rows, self.open_set)
        self.lefts = 0
        return self.scratch[: self.hopeful]

    def _row_for_replica(self, job: int) -> int:
        for index in range(self.rows):
            if not self.sets.meets(job, self.full_set + self.order[index]):
                slot: int = self.order[index]
                return slot
        return -1

    def _replicate(self, job: int, row: int) -> None:
        self.sets.add(self.full_set + row, job)
        if self.lefts < self.hopeful:
            self.scratch[self.lefts] = job
            self.lefts += 1
        if self.migrates:
            self._stand_too(job, row)
            return
        self.next_of[self.nexts], self.next_in[self.nexts] = job, row
        self.nexts += 1

    # Migration

    def _migrate(
        self, job: int, row: int, beside: int, stall: float, form: int, head: int, one: float, two: float
    ) -> None:
        """Move the job to the lowest columns of the row that are free and that the job `beside` (-1: none) does not
        use; it loses `stall` seconds. The reason has this form, names the job `head`, and has two numbers.
        """
        sets, procs = self.sets, self.procs[job]
        if self.home[job] == row:
            sets.drop(self.full_set + row, job)
        self._leave_row(job, self.home[job])
        sets.become(self.open_set, self.every_set)
        sets.drop(self.open_set, self.taken_set + row)
        if beside >= 0:
            sets.drop(self.open_set, beside)
        sets.drop(job, job)
        sets.take(job, self.open_set, procs)
        self._settle_in(job, row)
        sets.add(self.full_set + row, job)
        self._note_columns(job)
        self.migrated += procs
        self.migrations += 1
        self._lose(job, stall)
        self.migrated_in[job] = self.step + 1
        columns = self.whole_sets[~self.set_at[job]]
        place: int = self.teller(job, self.id_of[row], columns, stall, form, head, one, two)
        self._note(KEPT, job, place, 0.0, 0.0, 0.0)

    def _stall(self, job: int, seconds: float, form: int, head: int, one: float, two: float) -> None:
        if seconds:
            self._lose(job, seconds)
            self._note(form, job, head, seconds, one, two if two >= 0 else NOTHING)

    def _lose(self, job: int, seconds: float) -> None:
        """Let the job make no progress for these seconds of its turns."""
        self.stall[job] += seconds
        self.stalled += seconds * self.procs[job]
        self._find_need(job)

    def _has_migrated(self, rank: int) -> bool:
        if self.migrated_in[rank] != self.step + 1:
            return False
        has: bool = self.whole_sets[~self.set_at[rank]] != self.whole_sets[-1 - self.h_place[self.h_last[rank]]]
        return has
