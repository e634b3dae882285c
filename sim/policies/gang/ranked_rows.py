"""Questions of gang scheduling policies about the Ousterhout matrix, answered from a `MatrixView`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.decisions.reasons_in_rows import FitsNoRow
from sim.decisions.reasons_to_wait import TooFewFree
from sim.machine.moment import MOMENT
from sim.policies.gang.gang_view import GangView
from sim.policies.gang.planned_rows import span_in_row
from sim.policies.gang.plans import RowPlans
from sim.workload.model import Job


class RankedRows:
    """Rows of the matrix in the order of their population, as they were when this object was made; of equally
    populated rows, the later one comes first. Jobs are asked for as they are now.
    """

    def __init__(self, view: GangView) -> None:
        self._view, self._matrix = view, view.matrix
        matrix = view.matrix
        self._held = {row: matrix.used(row).bit_count() for row in reversed(matrix.rows)}
        self._rows = sorted(self._held, key=self._held.__getitem__)
        self._homes: dict[int, list[int]] = {}
        """For each row: ranks of the jobs whose home it was when this mapping was made"""
        self._may_differ = True
        """True if the caller may have moved jobs since then"""

    def all_rows(self) -> Sequence[int]:
        """Return the rows, the least populated first."""
        return self._rows

    def emptier_rows(self) -> Sequence[int]:
        """Return the rows, the least populated first. Unwatched runs may leave out rows whose jobs find no
        other row.
        """
        return self._rows[:-1]

    def fuller_rows(self, row: int) -> Sequence[int]:
        """Return the more populated rows, the most populated first."""
        if self._may_differ:
            self._homes, self._may_differ = self._matrix.homes(), False
        return self._rows[: self._rows.index(row) : -1]

    def targets(self, row: int) -> Sequence[int]:
        """Return the more populated rows, the most populated first; none if no job of the row finds its columns free
        there.
        """
        targets = self.fuller_rows(row)
        return targets if self._matrix.that_fit(self._homes[row], *targets) else ()

    def movable(self, row: int, target: int) -> Sequence[Job]:
        """Return the jobs whose home is the row and whose columns are free in the row `target`, in order of placement.
        Ask for the targets of the row first.
        """
        ranks = self._matrix.that_fit(self._homes[row], target)
        return self._jobs(rank for rank in ranks if self._matrix.home(rank) == row) if ranks else ()

    def narrow_enough(self, row: int, target: int) -> Sequence[Job]:
        """Return the jobs whose home is the row, and which need no more columns than are free in the row `target`, in
        order of placement. Ask for the rows that are fuller than the row first.
        """
        matrix, free = self._matrix, self._matrix.free(target)
        return self._jobs(
            rank for rank in self._homes[row] if matrix.columns(rank).bit_count() <= free and matrix.home(rank) == row
        )

    def population(self, row: int) -> int:
        """Return how many columns of the row jobs used when the rows were ranked."""
        return self._held[row]

    def _jobs(self, ranks: Iterable[int]) -> Sequence[Job]:
        """Return these jobs, which the caller may move."""
        jobs = [*map(self._view.job, ranks)]
        self._may_differ = self._may_differ or bool(jobs)
        return jobs


class RowQuestions:
    """Base class of views: the questions of `sim.policies.gang.rows_pass.RowsView`, answered from the matrix and from
    the other members of the view.
    """

    __slots__ = ()

    @property
    def rows(self: GangView) -> int:
        return len(self.matrix.rows)

    def is_event(self: GangView) -> bool:
        return bool(self.arrived or self.completed or self.resized or not self.matrix.jobs or self.suspended)

    def ends_in_time(self: GangView, job: Job, mpl: int) -> bool:
        return self.now + span_in_row(self.remaining_estimate(job.rank), mpl) <= self.closes + MOMENT

    def ranked_rows(self: GangView) -> RankedRows:
        return RankedRows(self)

    def row_plans(self: GangView, mpl: int) -> RowPlans:
        return RowPlans(self, mpl, is_reserved=False)

    def reserved_plans(self: GangView, mpl: int) -> RowPlans:
        return RowPlans(self, mpl, is_reserved=True)

    def to_place(self: GangView) -> Sequence[Job]:
        return self.queue

    def fullest_row(self: GangView, job: Job) -> int | None:
        rows = self.matrix.with_room(job.procs)
        return rows[0][1] if rows else None

    def has_row_for(self: GangView, job: Job) -> bool:
        return bool(self.matrix.with_room(job.procs))

    def no_row(self: GangView) -> FitsNoRow | TooFewFree:
        matrix = self.matrix
        if not matrix.rows:
            return TooFewFree(self.procs)
        return FitsNoRow(max(map(matrix.free, matrix.rows)), len(matrix.rows))

    def free_in(self: GangView, row: int) -> int:
        return self.matrix.free(row)

    def are_free(self: GangView, job: Job, row: int) -> bool:
        return not self.matrix.used(row) & self.matrix.columns(job.rank)

    def placed(self: GangView) -> Sequence[Job]:
        return [*map(self.job, self.matrix.jobs)]

    def other_rows(self: GangView, job: Job) -> Sequence[int]:
        matrix, procs = self.matrix, job.procs
        its = matrix.rows_of(job.rank)
        return [row for row in matrix.rows if row not in its and matrix.free(row) >= procs]

    def is_replicated(self: GangView, job: Job) -> bool:
        return len(self.matrix.rows_of(job.rank)) > 1

    def in_the_way(self: GangView, job: Job, row: int) -> Sequence[Job]:
        return [*map(self.job, self.matrix.in_the_way(self.matrix.columns(job.rank), row))]

    def tasks_in_the_way(self: GangView, job: Job, row: int) -> int:
        ranks = self.matrix.in_the_way(self.matrix.columns(job.rank), row)
        return sum(self.matrix.columns(rank).bit_count() for rank in ranks)

    def replicable(self: GangView) -> Sequence[Job]:
        matrix = self.matrix
        return [*map(self.job, matrix.that_fit(matrix.jobs, *matrix.rows))]

    def row_for_replica(self: GangView, job: Job) -> int | None:
        return self.matrix.room_for_replica(job.rank)
