"""Frozen copy of an earlier definition.

Phases of a rebuild of the Ousterhout matrix (Zhang et al. 2000, sections 5.1 and 5.4).

Each phase yields its decisions one by one, and the engine applies each to the matrix before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Protocol, TypeAlias

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import Clean, DropRows, MatrixDecision, OpenRow, Phase, PhaseName, Place, Rehome, Replicate
from sim.decisions.reasons_in_rows import FitsNoRow, Fuller, GoesOn, NewRow, OwnColumnsTaken
from sim.decisions.reasons_to_wait import TooFewFree
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT
from sim.machine.ousterhout_matrix import MatrixView
from sim.policies.view import View
from sim.workload.model import Job

Step: TypeAlias = Decision | MatrixDecision
MayMove: TypeAlias = Callable[[int, int], bool]
"""Function of (rank, row) that returns True if reservations allow the job to move there. It then counts the job as
moved, so the caller must move it
"""


class GangView(View, Protocol):
    """View of the current state for gang scheduling policies: with the Ousterhout matrix."""

    @property
    def matrix(self) -> MatrixView:
        """Return the current matrix, which the policy must not change."""

    def remaining_estimates(self, ranks: Iterable[int]) -> list[tuple[float, int, int]]:
        """Return (remaining estimate in seconds, rank, processors) of each of these jobs."""


class Bringing(Protocol):
    """Object that moves a job into a row where other jobs occupy its columns (see `tests.oracle.gang_migration`)."""

    def can_bring(self, rank: int, row: int) -> bool: ...
    def bring(self, rank: int, row: int) -> Iterator[Step]: ...


def is_event(view: GangView) -> bool:
    """Return True if the matrix is rebuilt at this instant: a job arrived or completed, the machine changed, the matrix
    is empty, or jobs are suspended.
    """
    return bool(view.arrived or view.completed or view.resized or not view.matrix.jobs or view.suspended)


def clean(view: GangView) -> Iterator[Step]:
    """Yield the decisions of phase CleanMatrix: remove each job's replicas, so that it stays in its home row only."""
    yield Phase("clean")
    if view.matrix.has_replicas:
        yield Clean()


def compact(
    view: GangView, may_move: MayMove, migration: Bringing | None = None, name: PhaseName = "compact"
) -> Generator[Step, None, bool]:
    """Yield the decisions of phase CompactMatrix: jobs of less populated rows move to more populated ones.

    The most populated row is filled first. Rows are ranked once, before any move; of equals the later one counts as
    less populated. Return True if any job moved.
    """
    yield Phase(name)
    matrix, moved = view.matrix, False
    held = {row: matrix.used(row).bit_count() for row in reversed(matrix.rows)}
    rows = sorted(held, key=held.__getitem__)
    homes = matrix.homes()
    for place, row in enumerate(rows):
        targets = rows[:place:-1]
        if not migration and not (targets and matrix.that_fit(homes[row], *targets)):
            continue
        for target in targets:
            before = matrix.used(target)
            for rank in homes[row] if migration else matrix.that_fit(homes[row], target):
                if not matrix.used(target) & matrix.columns(rank):
                    if may_move(rank, target):
                        yield Rehome(view.job(rank), target, Fuller(held[row], held[target]))
                        moved = True
                elif migration and migration.can_bring(rank, target) and may_move(rank, target):
                    yield from migration.bring(rank, target)
                    moved = True
            if matrix.used(target) != before:
                homes = matrix.homes()
    if not all(map(matrix.used, matrix.rows)):
        yield DropRows()
    return moved


def fill(view: GangView) -> Iterator[Step]:
    """Yield the decisions of phase FillMatrix: replicate each job into at most one row in each round.

    A replica needs the job's columns free in the row. Rows only fill up here, so a job that finds no row in one round
    is dropped from later rounds.
    """
    yield Phase("fill")
    matrix = view.matrix
    rows, job_of, room = matrix.rows, view.job, matrix.room_for_replica
    hopeful = matrix.jobs if len(rows) > 1 else []
    while hopeful:
        replicated = []
        for rank in matrix.that_fit(hopeful, *rows):
            if (row := room(rank)) is not None:
                yield Replicate(job_of(rank), row)
                replicated.append(rank)
        hopeful = replicated


# Common parts of both ways of scheduling


def place(view: GangView, job: Job, row: int, why: Reason, passes: bool = False) -> Iterator[Step]:
    """Yield the decision that places the job in the row, in the lowest free columns; `passes` is True if the job
    overtakes waiting jobs.
    """
    yield Place(job, row, view.matrix.lowest_free(row, job.procs), why, passes)


def place_in_new_row(
    view: GangView, job: Job, mpl: int, passes: bool = False, span: float | None = None
) -> Iterator[Step]:
    """Yield the decisions that open a new row and place the job in it, because the job fits in no existing row.

    `mpl`, the most rows allowed, and `span` are for the reason: `span` is the number of seconds for which no row has
    enough free columns, or None if no row has enough even now. `passes` is True if the job overtakes waiting jobs.
    """
    before = len(view.matrix.rows)
    yield OpenRow()
    yield from place(view, job, view.matrix.rows[-1], NewRow(before, mpl, span=span), passes)


def keep(view: GangView, job: Job, why: Reason) -> Iterator[Step]:
    """Yield the decision that the job waits for the reason `why`; yield nothing if reasons are not recorded."""
    if view.curious:
        yield Keep(job, why)


def fits_no_row(view: GangView) -> FitsNoRow | TooFewFree:
    """Return the reason why the job fits in no row: too few available processors, or too few free columns in every
    row.
    """
    matrix = view.matrix
    if not matrix.rows:
        return TooFewFree(view.procs)
    return FitsNoRow(max(map(matrix.free, matrix.rows)), len(matrix.rows))


def in_time(view: GangView, rank: int, mpl: int) -> bool:
    """Return True if the job would end before maintenance even if the matrix had `mpl` rows, the most allowed, all the
    time.
    """
    return view.now + view.remaining_estimate(rank) * mpl <= view.closes + MOMENT


def resume(view: GangView, mpl: int) -> Generator[Step, None, bool]:
    """Resume the jobs that an earlier policy suspended, in their own columns and in the order of suspension.

    Each job goes into a row in which its own columns are free: the one with the fewest free columns or, if there is
    none, a new row. At the first job for which neither is possible, return False: no later job may enter the matrix
    before this job.
    """
    matrix = view.matrix
    for rank, columns in list(view.suspended.items()):
        job = view.job(rank)
        rows = [row for _, row in matrix.with_room(job.procs) if not matrix.used(row) & columns]
        is_there = not columns & ~view.there and in_time(view, rank, mpl)
        if rows and is_there:
            yield Place(job, rows[0], columns, GoesOn())
        elif is_there and len(matrix.rows) < mpl:
            before = len(matrix.rows)
            yield OpenRow()
            yield Place(job, matrix.rows[-1], columns, NewRow(before, mpl, own=True))
        else:
            yield from keep(view, job, OwnColumnsTaken(len(matrix.rows)))
            return False
    return True
