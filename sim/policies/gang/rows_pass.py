"""Calls of a pass on a machine whose rows take turns: questions about the Ousterhout matrix, and changes of it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import (
    Clean,
    DropRows,
    MatrixDecision,
    Migrate,
    OpenRow,
    Phase,
    PhaseName,
    Place,
    Rehome,
    Replicate,
    ReserveRow,
    Stall,
)
from sim.decisions.reasons_in_rows import FitsNoRow, GoesOn, NewRow, OwnColumnsTaken
from sim.decisions.reasons_to_wait import TooFewFree
from sim.decisions.sentences import Reason
from sim.machine.processors import lowest
from sim.policies.calls import Pass, act
from sim.policies.gang.gang_view import GangView
from sim.policies.gang.plans import RowPlans
from sim.policies.gang.ranked_rows import RankedRows
from sim.workload.model import Job

Step = Decision | MatrixDecision


class RowsView(GangView, Protocol):
    """View of the current state with questions about the Ousterhout matrix. Rows are named by their ids,
    and a job's columns are the processors that it has in each of its rows.
    """

    @property
    def rows(self) -> int:
        """Return the number of rows."""

    @property
    def migrated(self) -> int:
        """Return how many tasks have migrated in this rebuild: since the last call of `clean`."""

    def is_event(self) -> bool:
        """Return True if the matrix is rebuilt at this instant: a job arrived or completed, the machine changed, the
        matrix is empty, or jobs are suspended.
        """

    def ends_in_time(self, job: Job, mpl: int) -> bool:
        """Return True if the job would end before maintenance even if the matrix had `mpl` rows all the time."""

    def ranked_rows(self) -> RankedRows:
        """Return the rows in the order of the columns that they use now."""

    def row_plans(self, mpl: int) -> RowPlans:
        """Return plans of the rows, in which only the jobs of each row hold columns."""

    def reserved_plans(self, mpl: int) -> RowPlans:
        """Return plans of the rows with their jobs and with the reservations that were made last."""

    def to_place(self) -> Sequence[Job]:
        """Return the waiting jobs in the order of the queue. Unwatched runs may leave out the jobs behind the
        last one that can be placed; their reservations are then made when they are needed.
        """

    def fullest_row(self, job: Job) -> int | None:
        """Return the row with the fewest free columns of those with enough for the job, of equals the earlier; None if
        all have too few.
        """

    def has_row_for(self, job: Job) -> bool:
        """Return True if some row has enough free columns for the job now."""

    def no_row(self) -> FitsNoRow | TooFewFree:
        """Return the reason why a job fits in no row: too few available processors, or too few free columns in every
        row.
        """

    def free_in(self, row: int) -> int:
        """Return the number of free columns of the row."""

    def are_free(self, job: Job, row: int) -> bool:
        """Return True if the columns of the job are free in the row."""

    def placed(self) -> Sequence[Job]:
        """Return the jobs in the matrix, in order of placement."""

    def other_rows(self, job: Job) -> Sequence[int]:
        """Return the rows that do not hold the job, and that have enough free columns for it."""

    def is_replicated(self, job: Job) -> bool:
        """Return True if the job is in several rows."""

    def in_the_way(self, job: Job, row: int) -> Sequence[Job]:
        """Return the jobs in the row that use columns of `job`, in order of placement."""

    def tasks_in_the_way(self, job: Job, row: int) -> int:
        """Return the total number of tasks of the jobs that `in_the_way` returns."""

    def replicable(self) -> Sequence[Job]:
        """Return the jobs that may find a row for a replica, in order of placement."""

    def row_for_replica(self, job: Job) -> int | None:
        """Return the first row in which the columns of the job are free; None if there is no such row."""


class RowsPass(RowsView, Pass, Protocol):
    """`Pass` for gang scheduling policies."""

    def phase(self, name: PhaseName) -> None:
        """Begin a phase of the rebuild: what is decided after this belongs to it."""

    def clean(self) -> None:
        """Remove each job's replicas, so that it stays in its home row only."""

    def drop_rows(self) -> None:
        """Remove the rows without jobs."""

    def open_row(self) -> int:
        """Add an empty row behind the last one, and return it."""

    def place(self, job: Job, row: int, because: Reason) -> None:
        """Place the waiting job in the lowest free columns of the row. This counts as a backfill if a job ahead of it
        in the queue waits.
        """

    def rehome(self, job: Job, row: int, because: Reason) -> None:
        """Move the job to the row, in the same columns."""

    def replicate(self, job: Job, row: int) -> None:
        """Add a replica of the job to the row, in the same columns."""

    def migrate(self, job: Job, row: int, beside: Job | None, stall: float, because: Reason) -> None:
        """Move the job to the lowest columns of the row that are free and that the job `beside` does not use. It makes
        no progress for `stall` seconds of its turns.
        """

    def stall(self, job: Job, seconds: float, because: Reason) -> None:
        """Let the job make no progress for some seconds of its turns, because another job migrates; 0 changes
        nothing.
        """

    def forget_reservations(self) -> None:
        """Remove the reservations of the last rebuild."""

    def reserve_row(self, job: Job, row: int, at: float, because: Reason) -> None:
        """Reserve the start `at` in the row for the job, until the next rebuild."""

    def resume_in_rows(self, mpl: int) -> bool:
        """Resume the jobs that an earlier policy suspended, in their own columns and in the order of suspension.

        Each job goes into a row in which its own columns are free: the one with the fewest free columns or, if there is
        none, a new row. At the first job for which neither is possible, return False: no later job may enter the matrix
        before this job.
        """


@act
def phase(view: RowsView, name: PhaseName) -> Iterator[Step]:
    yield Phase(name)


@act
def clean(view: RowsView) -> Iterator[Step]:
    if view.matrix.has_replicas:
        yield Clean()


@act
def drop_rows(view: RowsView) -> Iterator[Step]:
    if not all(map(view.matrix.used, view.matrix.rows)):
        yield DropRows()


@act
def open_row(view: RowsView) -> Generator[Step, None, int]:
    yield OpenRow()
    return view.matrix.rows[-1]


@act
def place(view: RowsView, job: Job, row: int, because: Reason) -> Iterator[Step]:
    yield Place(job, row, view.matrix.lowest_free(row, job.procs), because, not view.is_first(job))


@act
def rehome(view: RowsView, job: Job, row: int, because: Reason) -> Iterator[Step]:
    yield Rehome(job, row, because)


@act
def replicate(view: RowsView, job: Job, row: int) -> Iterator[Step]:
    yield Replicate(job, row)


@act
def migrate(
    view: RowsView, job: Job, row: int, beside: Job | None, stall: float, because: Reason
) -> Iterator[Step]:  # fmt: skip
    matrix, rank = view.matrix, job.rank
    columns = matrix.free_columns(row)
    if matrix.home(rank) == row:
        columns |= matrix.columns(rank)
    if beside is not None:
        columns &= ~matrix.columns(beside.rank)
    yield Migrate(job, row, lowest(columns, job.procs), stall, because)


@act
def stall(view: RowsView, job: Job, seconds: float, because: Reason) -> Iterator[Step]:
    if seconds:
        yield Stall(job, seconds, because)


@act
def forget_reservations(view: RowsView) -> Iterator[Step]:
    view.notes["reserved at"], view.notes["reserved row"] = {}, {}
    yield from ()


@act
def reserve_row(view: RowsView, job: Job, row: int, at: float, because: Reason) -> Iterator[Step]:
    view.notes["reserved at"][job.rank], view.notes["reserved row"][job.rank] = at, row
    yield ReserveRow(job, row, at, because)


@act
def resume_in_rows(view: RowsView, mpl: int) -> Generator[Step, None, bool]:
    matrix = view.matrix
    for rank, columns in list(view.suspended.items()):
        job = view.job(rank)
        rows = [row for _, row in matrix.with_room(job.procs) if not matrix.used(row) & columns]
        is_there = not columns & ~view.there and view.ends_in_time(job, mpl)
        if rows and is_there:
            yield Place(job, rows[0], columns, GoesOn())
        elif is_there and len(matrix.rows) < mpl:
            before = len(matrix.rows)
            yield OpenRow()
            yield Place(job, matrix.rows[-1], columns, NewRow(before, mpl, own=True))
        else:
            if view.curious:
                yield Keep(job, OwnColumnsTaken(len(matrix.rows)))
            return False
    return True
