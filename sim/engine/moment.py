"""The present moment of a run: the state, what a policy may ask of it, and what it may do.

The questions are in `sim.engine.asking`, the calls on a machine shared in space in `sim.engine.acting`. Here are the
calls on a machine that is divided into partitions, and on one whose rows take turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sim.decisions.decisions import Borrow, Divide, check_reason, check_span
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
from sim.engine.acting import Acting, made
from sim.engine.sharing import Sharing
from sim.machine.moment import MOMENT
from sim.machine.ousterhout_matrix import MatrixView
from sim.machine.processors import lowest
from sim.policies.gang.planned_rows import span_in_row
from sim.policies.multiqueue.partitions import Classes, lender, split
from sim.policies.multiqueue.pivots import Pivots
from sim.policies.ranking import Ranking
from sim.support.errors import DecisionError
from sim.workload.model import Job


class Moment(Acting):
    """State at the present moment, with the questions and the calls of a policy."""

    def new_ranking(self) -> Ranking:
        """Return a new, empty `Ranking` (jobs sorted by a number), which the policy can fill at this pass."""
        return Ranking()

    # Partitions, which are named by their numbers

    @property
    def owners(self) -> Sequence[int]:
        """Return the processors that each partition owns, as bits; empty without partitions."""
        return tuple(self._machine.owners)

    def divide(self, classes: str) -> None:
        """Divide the machine into partitions of equal size, except that processors with a running job belong to the
        partition of the job's class. `classes` are the limits of the estimates between them (see `Classes.read`).
        """
        limits, held = Classes.read(classes), self._machine.held
        owners = split(self._machine.there, len(limits))
        for rank, stay in self._running.items():
            owners = [owned & ~held[rank] for owned in owners]
            owners[limits.of(stay.job)] |= held[rank]
        self._machine.divide(owners)
        self._history.boundaries(self._time, self._machine.owners)
        self._log(Divide(tuple(owners)))

    def pivots(self, classes: str, came: Sequence[Job]) -> Pivots:
        """Return the pivots (first jobs) of the queues; the jobs in `came` have just arrived."""
        return Pivots(self, Classes.read(classes), len(came))

    def reserve_trial(self, job: Job, at: float, limit: float, because: Reason) -> None:
        """Reserve the start `at` for a speculative run of the job, which lasts at most `limit` seconds."""
        self._reserve(job, at, because, limit, None)

    def try_on(self, seats: int, job: Job, limit: float, because: Reason) -> None:
        """Start a speculative run of the job on these processors (bits); it lasts at most `limit` seconds."""
        self._start(job, because, seats, limit, False)

    def seats_in(self, to: int, job: Job) -> int:
        """Return the lowest-numbered idle processors of the partition for the job. It borrows what it lacks: the
        partition with the most idle processors lends first, each its lowest-numbered idle ones.
        """
        idle = [(owned & self.free_set).bit_count() for owned in self._machine.owners]
        while (lacking := job.procs - idle[to]) > 0:
            lends = lender(idle, to)
            lent = min(lacking, idle[lends])
            self._borrow(job, to, lends, self._lowest_in(lends, lent))
            idle[lends] -= lent
            idle[to] += lent
        return self._lowest_in(to, job.procs)

    def _lowest_in(self, partition: int, procs: int) -> int:
        return lowest(self._machine.owners[partition] & self.free_set, procs)

    def _borrow(self, job: Job, to: int, lends: int, processors: int) -> None:
        self._machine.hand_over(to, processors)
        self._tally.borrowed += processors.bit_count()
        self._history.boundaries(self._time, self._machine.owners)
        self._log(Borrow(job, to, lends, processors))

    # Questions about the matrix, whose rows are named by their ids. A job's columns are the same in each of its rows.

    @property
    def matrix(self) -> MatrixView:
        """Return the current matrix, which the policy must not change."""
        return self._matrix().view

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self._matrix().rows)

    @property
    def migrated(self) -> int:
        """Return how many tasks have migrated in this rebuild: since the last call of `clean`."""
        return self._sharing.migrated if self._sharing is not None else 0

    def is_event(self) -> bool:
        """Return True if the matrix is rebuilt at this instant: a job arrived or completed, the machine changed, the
        matrix is empty, or jobs are suspended.
        """
        return bool(self._arrived or self._completed or self._resized or not self._matrix().jobs or self._suspended)

    def ends_in_time(self, job: Job, mpl: int) -> bool:
        """Return True if the job would end before maintenance even if the matrix had `mpl` rows all the time."""
        return self._time + span_in_row(self.remaining_estimate(job.rank), mpl) <= self._closes + MOMENT

    def fullest_row(self, job: Job) -> int | None:
        """Return the row with the fewest free columns that has enough for the job, of equals the earlier, or None."""
        rows = self._matrix().with_room(job.procs)
        return rows[0][1] if rows else None

    def no_row(self) -> FitsNoRow | TooFewFree:
        matrix = self._matrix()
        if not matrix.rows:
            return TooFewFree(self.procs)
        return FitsNoRow(max(map(matrix.free, matrix.rows)), len(matrix.rows))

    def free_in(self, row: int) -> int:
        """Return the number of free columns of the row."""
        return self._matrix().free(row)

    def are_free(self, job: Job, row: int) -> bool:
        """Return True if the columns of the job are free in the row."""
        matrix = self._matrix()
        return not matrix.used(row) & matrix.columns(job.rank)

    def placed(self) -> Sequence[Job]:
        """Return the jobs in the matrix, in order of placement."""
        return self._jobs_of(self._matrix().jobs)

    def other_rows(self, job: Job) -> Sequence[int]:
        """Return the rows that do not hold the job, and that have enough free columns for it."""
        matrix, its = self._matrix(), self._matrix().rows_of(job.rank)
        return [row for row in matrix.rows if row not in its and matrix.free(row) >= job.procs]

    def is_replicated(self, job: Job) -> bool:
        """Return True if the job is in several rows."""
        return len(self._matrix().rows_of(job.rank)) > 1

    def in_the_way(self, job: Job, row: int) -> Sequence[Job]:
        """Return the jobs in the row that use columns of `job`, in order of placement."""
        matrix = self._matrix()
        return self._jobs_of(matrix.in_the_way(matrix.columns(job.rank), row))

    def tasks_in_the_way(self, job: Job, row: int) -> int:
        """Return the total number of tasks of the jobs that `in_the_way` returns."""
        return sum(other.procs for other in self.in_the_way(job, row))

    def replicable(self) -> Sequence[Job]:
        """Return the jobs that may find a row for a replica, in order of placement."""
        matrix = self._matrix()
        return self._jobs_of(matrix.that_fit(matrix.jobs, *matrix.rows))

    def row_for_replica(self, job: Job) -> int | None:
        """Return the first row in which the columns of the job are free; None if there is no such row."""
        return self._matrix().room_for_replica(job.rank)

    def _jobs_of(self, ranks: Iterable[int]) -> list[Job]:
        return [self._job(rank) for rank in ranks]

    # Changes of the matrix

    def phase(self, name: PhaseName) -> None:
        """Begin a phase of the rebuild: what is decided after this belongs to it. At the beginning of the phase
        `schedule`, which plans waiting jobs, the old plans in rows are dropped.
        """
        self._not_passed.clear()
        if name == "clean":
            self._shared().migrated = 0
        if name == "schedule":
            self._before, self._expected, self._expected_row = self._expected, {}, {}
        if self._curious:
            self._show(Phase(name))

    def clean(self) -> None:
        """Remove each job's replicas, so that it stays in its home row only."""
        if self._matrix().view.has_replicas:
            self._matrix().clean()
            self._note(Clean())

    def drop_rows(self) -> None:
        """Remove the rows without jobs."""
        matrix = self._matrix()
        if not all(map(matrix.used, matrix.rows)):
            matrix.drop_empty_rows()
            self._note(DropRows())

    def open_row(self) -> int:
        """Add an empty row behind the last one, and return it."""
        self._matrix().open_row()
        self._note(OpenRow())
        return self._matrix().rows[-1]

    def place(self, job: Job, row: int, because: Reason) -> None:
        """Place the waiting job in the lowest free columns of the row. This counts as a backfill if a job ahead of it
        in the queue waits.
        """
        self._place(job, row, self._matrix().view.lowest_free(row, job.procs), because, not self.is_first(job))

    def _place(self, job: Job, row: int, columns: int, because: Reason, passes: bool) -> None:
        rank, ledger = job.rank, self._ledger
        check_reason(job, because)
        for passed in self._not_passed:
            self._write_plan(passed)
        self._not_passed.clear()
        is_new = rank not in self._suspended
        if is_new:
            self._must_wait(job, "be placed in the matrix")
        elif columns != self._suspended[rank]:
            raise DecisionError(f"job {job.id} cannot be placed in the matrix in other columns than its own")
        if columns.bit_count() != job.procs:
            raise DecisionError(f"job {job.id} cannot be placed in {columns.bit_count()} columns: it needs {job.procs}")
        self._shared().come_in(rank, row, columns, ledger.ran[rank], is_new)
        if is_new:
            for planned in (self._granted, self._reserved, self._row_planned, self._expected):
                planned.pop(rank, None)
            self._expected_row.pop(rank, None)
            self._waiting.remove(job)
            ledger.backfilled[rank] = passes
            self._tally.backfilled += passes
        else:
            del self._suspended[rank], self._suspended_since[rank]
        self._log(Place(job, row, columns, because, passes))

    def rehome(self, job: Job, row: int, because: Reason) -> None:
        """Move the job to the row, in the same columns."""
        self._matrix().move(job.rank, row)
        self._note(Rehome(job, row, because))

    def replicate(self, job: Job, row: int) -> None:
        """Add a replica of the job to the row, in the same columns."""
        self._matrix().replicate(job.rank, row)
        if self._curious:
            self._show(Replicate(job, row))

    def migrate(self, job: Job, row: int, beside: Job | None, stall: float, because: Reason) -> None:
        """Move the job to the lowest columns of the row that are free and that the job `beside` does not use. It makes
        no progress for `stall` seconds of its turns.
        """
        sharing, matrix, rank = self._shared(), self._matrix(), job.rank
        columns = matrix.view.free_columns(row)
        if matrix.home(rank) == row:
            columns |= matrix.columns(rank)
        if beside is not None:
            columns &= ~matrix.columns(beside.rank)
        columns = lowest(columns, job.procs)
        check_span(job, "stall", stall)
        check_reason(job, because)
        matrix.move(rank, row, columns)
        sharing.stall[rank] += stall
        self._tally.stalled += stall * job.procs
        self._ledger.migrations[rank] += 1
        self._tally.migrations += 1
        sharing.migrated += job.procs
        self._log(Migrate(job, row, columns, stall, because))

    def stall(self, job: Job, seconds: float, because: Reason) -> None:
        """Let the job make no progress for some seconds of its turns, as another job migrates; 0 changes nothing."""
        if not seconds:
            return
        stall, rank = self._shared().stall, job.rank
        if rank not in stall:
            raise DecisionError(f"job {job.id} cannot stall: it is not in the matrix")
        check_span(job, "stall", seconds)
        check_reason(job, because)
        stall[rank] += seconds
        self._tally.stalled += seconds * job.procs
        self._log(Stall(job, seconds, because))

    def forget_reservations(self) -> None:
        """Remove the reservations of the last rebuild."""
        self._notes["reserved at"], self._notes["reserved row"] = {}, {}

    def reserve_row(self, job: Job, row: int, at: float, because: Reason) -> None:
        """Reserve the start `at` in the row for the job, until the next rebuild."""
        rank = job.rank
        self._notes["reserved at"][rank], self._notes["reserved row"][rank] = at, row
        check_reason(job, because)
        if self._waiting.jobs.get(rank) is not job:
            self._must_wait(job, "get a reservation")
        self._expected[rank], self._expected_row[rank] = at, row
        decision: ReserveRow = made(ReserveRow, (job, row, at, because))
        if not self._curious:
            self._not_passed.append(decision)
            return
        is_written, before = self._write_plan(decision), self._before.get(rank)
        if before is not None and (is_written or rank in self._moved):  # in the first schedule of two
            self._moved[rank] = at - before
        if not is_written:
            self._note(decision)

    def _write_plan(self, decision: ReserveRow) -> bool:
        """Record the planned start of a waiting job in a row of the matrix; return True if it was recorded.

        A plan that moves by less than the length of a turn is not recorded, because every rebuild moves all plans a
        little.
        """
        planned, rank, at = self._row_planned, decision.job.rank, decision.at
        was = planned.get(rank)
        if was is not None and abs(at - was) < self._shared().turns.slice:
            return False
        planned[rank] = at
        self._log(decision)
        return True

    def resume_in_rows(self, mpl: int) -> bool:
        """Resume the jobs that an earlier policy suspended, in their own columns and in the order of suspension.

        Each job goes into a row in which its own columns are free: the one with the fewest free columns or, if there is
        none, a new row. At the first job for which neither is possible, return False: no later job may enter the matrix
        before this job.
        """
        matrix = self._matrix()
        for rank, columns in list(self._suspended.items()):
            job = self._jobs[rank]
            rows = [row for _, row in matrix.with_room(job.procs) if not matrix.used(row) & columns]
            is_there = not columns & ~self._machine.there and self.ends_in_time(job, mpl)
            if rows and is_there:
                self._place(job, rows[0], columns, GoesOn(), False)
            elif is_there and len(matrix.rows) < mpl:
                before = len(matrix.rows)
                self._place(job, self.open_row(), columns, NewRow(before, mpl, own=True), False)
            else:
                self.keep(job, OwnColumnsTaken(len(matrix.rows)))
                return False
        return True

    def _note(self, decision: MatrixDecision) -> None:
        """Record a decision that changes nothing in the history, so that this step shows it to a user who watches."""
        if self._curious:
            self._show(decision)

    def _shared(self) -> Sharing:
        if self._sharing is None:
            raise DecisionError("a policy without turns has no matrix")
        return self._sharing
