"""Effects of the decisions of gang scheduling policies: on the matrix, on the jobs in it, and on jobs that are placed
in it.
"""

from __future__ import annotations

from sim.decisions.decisions import check_reason, check_span
from sim.decisions.matrix import (
    Clean,
    DropRows,
    Migrate,
    OpenRow,
    Place,
    Rehome,
    Replicate,
    ReserveRow,
    Stall,
    TurnTo,
)
from sim.engine.sharing import Sharing
from sim.engine.transitions import Table, Transitions
from sim.errors import DecisionError


class MatrixTransitions(Transitions):
    """Effects of decisions and events on a machine where rows take turns, and where jobs start only in a row of the
    matrix.
    """

    sharing: Sharing
    """The matrix, with the clock of its rows and the progress of its jobs"""

    def _about_jobs(self) -> Table:
        if self.state.sharing is None:
            return super()._about_jobs()
        self.sharing = self.state.sharing
        return {
            Clean: self._change_matrix,
            DropRows: self._change_matrix,
            OpenRow: self._change_matrix,
            Place: self._place,
            Rehome: self._change_matrix,
            Replicate: self._replicate,
            Migrate: self._migrate,
            Stall: self._stall,
            ReserveRow: self._reserve_row,
            TurnTo: self._turn_to,
        }

    def _place(self, decision: Place) -> None:
        """Apply the placement of a waiting or suspended job in the matrix."""
        state, job, rank = self.state, decision.job, decision.job.rank
        check_reason(job, decision.because)
        for passed in state.not_passed:
            self._write_plan(passed)
        state.not_passed.clear()
        is_new = rank not in state.suspended
        if is_new:
            self._must_wait(job, "be placed in the matrix")
        elif decision.columns != state.suspended[rank]:
            raise DecisionError(f"job {job.id} cannot be placed in the matrix in other columns than its own")
        if decision.columns.bit_count() != job.procs:
            raise DecisionError(
                f"job {job.id} cannot be placed in {decision.columns.bit_count()} columns: it needs {job.procs}"
            )
        self.sharing.come_in(rank, decision.row, decision.columns, state.ledger.ran[rank], is_new)
        if is_new:
            for planned in (state.granted, state.reserved, state.row_planned, state.expected, state.expected_row):
                planned.pop(rank, None)
            state.waiting.remove(job)
            state.ledger.backfilled[rank] = decision.passes
            state.tally.backfilled += decision.passes
        else:
            del state.suspended[rank], state.suspended_since[rank]
        self.log(decision)

    def _change_matrix(self, decision: Clean | DropRows | OpenRow | Rehome) -> None:
        self.sharing.change(decision)
        if self.state.curious:
            self._note(decision)

    def _replicate(self, decision: Replicate) -> None:
        self.sharing.matrix.replicate(decision.job.rank, decision.row)
        if self.state.curious:
            self._note(decision)

    def _migrate(self, decision: Migrate) -> None:
        state, sharing, rank = self.state, self.sharing, decision.job.rank
        check_span(decision.job, "stall", decision.stall)
        check_reason(decision.job, decision.because)
        sharing.matrix.move(rank, decision.row, decision.columns)
        sharing.stall[rank] += decision.stall
        state.tally.stalled += decision.stall * decision.job.procs
        state.ledger.migrations[rank] += 1
        state.tally.migrations += 1
        sharing.migrated += decision.job.procs
        self.log(decision)

    def _stall(self, decision: Stall) -> None:
        stall, rank = self.sharing.stall, decision.job.rank
        if rank not in stall:
            raise DecisionError(f"job {decision.job.id} cannot stall: it is not in the matrix")
        check_span(decision.job, "stall", decision.seconds)
        check_reason(decision.job, decision.because)
        stall[rank] += decision.seconds
        self.state.tally.stalled += decision.seconds * decision.job.procs
        self.log(decision)

    def _reserve_row(self, decision: ReserveRow) -> None:
        state = self.state
        job, row, at, because = decision
        rank = job.rank
        check_reason(job, because)
        if state.waiting.jobs.get(rank) is not job:
            self._must_wait(job, "get a reservation")
        state.expected[rank], state.expected_row[rank] = at, row
        if not state.curious:
            state.not_passed.append(decision)
            return
        is_written, before = self._write_plan(decision), state.before.get(rank)
        if before is not None and (is_written or rank in state.moved):  # in the first schedule of two
            state.moved[rank] = at - before
        if not is_written:
            self._note(decision)

    def _write_plan(self, decision: ReserveRow) -> bool:
        """Record the planned start of a waiting job in a row of the matrix; return True if it was recorded.

        A plan that moves by less than the length of a turn is not recorded, because every rebuild moves all plans a
        little.
        """
        planned, rank, at = self.state.row_planned, decision.job.rank, decision.at
        if (was := planned.get(rank)) is not None and abs(at - was) < self.sharing.turns.slice:
            return False
        planned[rank] = at
        self.log(decision)
        return True

    def _turn_to(self, decision: TurnTo) -> None:
        if decision.row not in self.sharing.matrix.rows:
            raise DecisionError(f"row {decision.row} cannot get a turn: it does not exist")
        self.sharing.to_turn = decision.row
        self.log(decision)
