"""Frozen copy of an earlier definition.

Migration of jobs to other columns (Zhang et al. 2000, section 5.4, figure 13).

A job A is placed in a row with enough free columns, but other jobs are in A's columns. Option 1: those jobs, J, move
aside within the row. Option 2: A takes the lowest free columns of the row.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim.decisions.matrix import Migrate, Phase, Rehome, Replicate, Stall
from sim.decisions.reasons_in_rows import MakesWay, OtherColumns
from sim.decisions.sentences import Reason
from sim.machine.moment import is_by
from sim.machine.processors import lowest
from sim.workload.model import Job
from tests.oracle.gang_rebuilding import GangView, Step


class Migration:
    """Migrations of one rebuild: at most `tasks` tasks move, and each job that moves loses `cost` seconds of its own
    turns.

    All tasks of a migrating job count, even one that keeps its column. Let C be `cost`, |A| the number of tasks of A,
    and
    sum|J| that of the jobs J in its way. Option 1 of this module costs C/2*|A| + C*sum|J|, and option 2 costs C*|A| +
    C/2*sum|J|. The cheaper possible option is taken; if both cost the same, option 1. A job that moves aside takes the
    lowest columns that are free once A is placed; several jobs move in order of placement. A job pays for every move,
    even
    if it was placed in the matrix at the same instant. If the columns of A are free, all jobs keep theirs.
    """

    def __init__(self, view: GangView, cost: float, tasks: int) -> None:
        self._view, self._matrix = view, view.matrix
        self._cost, self._tasks = cost, tasks

    # Compaction: A leaves its row

    def can_bring(self, rank: int, row: int) -> bool:
        """Return True if the row has room for the job, and one of the two options stays within the limit of moved
        tasks.
        """
        size = self._matrix.columns(rank).bit_count()
        if size > self._matrix.free(row) or not self._tasks:
            return False
        return min(size, self._in_the_way(rank, row)[1]) <= self._tasks

    def bring(self, rank: int, row: int) -> Iterator[Step]:
        """Yield the decisions that move the job `rank` (A in this module) to the row, by the cheaper of the two
        options.
        """
        ranks, aside = self._in_the_way(rank, row)
        size, cost = self._matrix.columns(rank).bit_count(), self._cost
        first = cost / 2 * size + cost * aside if aside <= self._tasks else None
        second = cost * size + cost / 2 * aside if size <= self._tasks else None
        job = self._view.job(rank)
        if second is None or (first is not None and is_by(first, second)):
            assert first is not None, "ask can_bring first"
            why = MakesWay(job, first, second)
            yield from self._move_aside(ranks, rank, row, why)
            yield Rehome(job, row, why)
            yield from self._stall(job, why)
        else:
            other = OtherColumns(second, first)
            self._tasks -= size
            yield Migrate(job, row, self._matrix.lowest_free(row, size), cost, other)
            for in_the_way in ranks:
                yield from self._stall(self._view.job(in_the_way), other)

    # Filling: A stays where it is, and is replicated

    def fill(self) -> Iterator[Step]:
        """Yield the decisions of phase FillMatrix with option 1: jobs that are in no other row move aside for a
        replica.

        As in `fill` of `tests.oracle.gang_rebuilding`, each job gets at most one replica in a round, in the first
        possible row. A replica costs nothing where the job's columns are free.
        """
        yield Phase("fill with migration")
        changed = len(self._matrix.rows) > 1 and self._tasks > 0
        while changed:
            changed = False
            for rank in self._matrix.jobs:
                for row in self._matrix.rows:
                    if row not in self._matrix.rows_of(rank) and self._can_replicate(rank, row):
                        yield from self._replicate(rank, row)
                        changed = True
                        break

    def _can_replicate(self, rank: int, row: int) -> bool:
        matrix = self._matrix
        if matrix.columns(rank).bit_count() > matrix.free(row):
            return False
        ranks, aside = self._in_the_way(rank, row)
        return aside <= self._tasks and all(len(matrix.rows_of(other)) == 1 for other in ranks)

    def _replicate(self, rank: int, row: int) -> Iterator[Step]:
        ranks, aside = self._in_the_way(rank, row)
        job, size = self._view.job(rank), self._matrix.columns(rank).bit_count()
        why = MakesWay(job, self._cost / 2 * size + self._cost * aside, None)
        yield from self._move_aside(ranks, rank, row, why)
        yield Replicate(job, row)
        if ranks:
            yield from self._stall(job, why)

    # Both

    def _in_the_way(self, rank: int, row: int) -> tuple[list[int], int]:
        """Return the ranks of the jobs in this row that occupy columns of the job `rank`, and the total number of their
        tasks.
        """
        matrix = self._matrix
        ranks = matrix.in_the_way(matrix.columns(rank), row)
        return ranks, sum(matrix.columns(other).bit_count() for other in ranks)

    def _move_aside(self, ranks: list[int], for_rank: int, row: int, why: Reason) -> Iterator[Step]:
        """Yield the migrations that move the jobs `ranks` out of A's columns in the row, one job after another.

        The row must have enough columns for all its jobs and for A, the job `for_rank`.
        """
        matrix = self._matrix
        wanted = matrix.columns(for_rank)
        for rank in ranks:
            own = matrix.columns(rank)
            columns = lowest((matrix.free_columns(row) | own) & ~wanted, own.bit_count())
            self._tasks -= own.bit_count()
            yield Migrate(self._view.job(rank), row, columns, self._cost, why)

    def _stall(self, job: Job, why: Reason) -> Iterator[Step]:
        if self._cost:
            yield Stall(job, self._cost / 2, why)
