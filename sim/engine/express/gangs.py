"""Copy of the state of gang scheduling to the fast loop and back."""

from __future__ import annotations

from math import inf
from typing import Any

from sim.decisions.decisions import Decision
from sim.decisions.matrix import (
    MakesWay,
    Migrate,
    NewRow,
    OtherColumns,
    Place,
    Stall,
)
from sim.decisions.sentences import Reason
from sim.engine.express.preempting import WIDEST
from sim.engine.state import State
from sim.history.bulk_append import Extension
from sim.history.history import History
from sim.policies.gang.gang import GangBackfill, Migrating, TimeShared
from sim.workload.model import Job, Workload

MOST_ROWS, MOST_TASKS = 24, 1 << 16
"""Largest number of rows, and of tasks that may migrate at one rebuild, for which the loop can be used"""
_MOST_TURNS = 2**52
"""Number of turns beyond which a double (64-bit float) cannot represent every number of turns"""


class _Teller:
    """Writer of decisions that have no compact form and are kept as objects. The methods that store a decision return
    its index.
    """

    def __init__(self, state: State, kept: list[Decision]) -> None:
        self._jobs, self._mpl, self._kept = state.jobs, _policy(state).mpl, kept
        self._made = state.jobs.made
        self._tally, self._migrations = state.tally, state.ledger.migrations

    def _job(self, rank: int) -> Job:
        """Return the job of this rank. Jobs are made in groups, because many enter the matrix one after another."""
        return self._made[rank] or self._jobs.next(rank)

    def _keep(self, decision: Decision) -> int:
        self._kept.append(decision)
        return len(self._kept) - 1

    def opened(self, rank: int, row: int, columns: int, rows: int, span: float, passes: bool) -> int:
        """Store the decision that places the job in a new row; return its index. `rows` is the number of rows before
        it; `span` is that of `NewRow` in seconds, negative for None.
        """
        why = NewRow(rows, self._mpl, span=span if span >= 0 else None)
        return self._keep(Place(self._job(rank), row, columns, why, passes))

    def makes_way(self, rank: int, cost: float, other: float | None) -> Reason:
        """Return the reason for which a job leaves the columns of the job `rank`. The move costs `cost`
        processor-seconds; the alternative would cost `other`, None if impossible or not considered.
        """
        return MakesWay(self._jobs[rank], cost, other)

    def other_columns(self, cost: float, other: float | None) -> Reason:
        return OtherColumns(cost, other)

    def migrated(self, rank: int, row: int, columns: int, stall: float, why: Reason) -> int:
        """Store the decision that moves the job to other columns; return its index."""
        job, tally = self._jobs[rank], self._tally
        tally.stalled += stall * job.procs
        tally.migrations += 1
        self._migrations[rank] += 1
        return self._keep(Migrate(job, row, columns, stall, why))

    def stalled(self, rank: int, seconds: float, why: Reason) -> int:
        """Store the decision that the job loses seconds of its turns, because another job migrates; return its
        index.
        """
        job = self._jobs[rank]
        self._tally.stalled += seconds * job.procs
        return self._keep(Stall(job, seconds, why))


def _policy(state: State) -> TimeShared:
    assert isinstance(state.policy, TimeShared)
    return state.policy


def can_go_on(state: State) -> bool:
    """Return True if the loop can continue: it supports all jobs in the matrix and all plans."""
    sharing, policy = state.sharing, _policy(state)
    if sharing is None or sharing.to_turn is not None or state.procs > WIDEST:
        return False
    if not len(sharing.matrix.rows) <= policy.mpl <= MOST_ROWS:
        return False
    if isinstance(policy, Migrating) and policy.q > MOST_TASKS:
        return False
    unknown = state.suspended, state.timers, state.wakes, state.reserved
    return not any(unknown) and state.notes.get("reserved at", {}) == state.expected


def latest(state: State) -> float:
    """Return the time up to which the loop can count turns exactly."""
    if state.sharing is None:
        return inf
    turns = state.sharing.turns
    return _MOST_TURNS / MOST_ROWS * (turns.slice - turns.overhead)


def enter(loop: Any, state: State, workload: Workload) -> None:
    """Copy the matrix and its jobs into the loop."""
    policy, sharing = _policy(state), state.sharing
    assert sharing is not None
    loop.enter_rows(policy.mpl, sharing.matrix.rows, state.machine.there, sharing.turns, sharing.since)
    loop.enter_policy(isinstance(policy, GangBackfill))
    if isinstance(policy, Migrating):
        loop.enter_migration(policy.cost, policy.q)
    loop.gone, loop.looked_in = set(sharing.matrix.gone), state.waiting.step
    for rank, columns, rows in sharing.places():
        loop.enter_job(rank, columns, rows, sharing.ran[rank], sharing.stall[rank], rank in sharing.new)
    for rank, at in state.expected.items():
        loop.enter_plan(rank, state.expected_row[rank], at)
    for rank, at in state.row_planned.items():
        loop.row_planned[rank] = at


def begin(loop: Any, state: State, history: History, extension: Extension) -> None:
    """Prepare the loop to write to this history, into the spare entries that `extension` has added to the columns of
    the history.
    """
    loop.teller, loop.tick = _Teller(state, extension.kept), history.tick
    loop.rows_at, loop.kinds = extension.rows, extension.kinds


def settle(loop: Any, state: State) -> None:
    """Copy the matrix and its jobs from the loop back to the run."""
    sharing, places, planned = state.sharing, loop.places(), loop.plans_told()
    assert sharing is not None
    ranks = [rank for rank, _, _ in places]
    loop.set_clock()
    sharing.matrix.become(loop.ids, places, loop.gone)
    sharing.since, sharing.new = loop.since, set(loop.new_ranks())
    sharing.ran = {rank: loop.ran[place] for place, rank in enumerate(ranks)}
    sharing.stall = {rank: loop.stall[rank] for rank in ranks}
    state.machine.hold_only(sharing.on_turn())
    state.expected = {rank: at for rank, _, at in planned}
    state.expected_row = {rank: row for rank, row, _ in planned}
    waiting = state.waiting.jobs
    state.row_planned = {rank: at for rank in waiting if (at := loop.row_planned[rank]) < inf}
    state.waiting.step = loop.looked_in
    if loop.has_rebuilt():
        state.rebuild = ()
        if loop.backfills:
            state.notes["reserved at"], state.notes["reserved row"] = state.expected.copy(), state.expected_row.copy()
