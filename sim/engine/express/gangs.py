"""Copy of the state of gang scheduling to the fast loop and back."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from sim.decisions.matrix import Migrate
from sim.engine.express.preempting import WIDEST
from sim.engine.state import State
from sim.history.bulk_append import Extension
from sim.history.decision_log import FORMS
from sim.history.history import History
from sim.kernel.gang import RowsPass
from sim.policies.gang.gang import GangBackfill, Migrating, TimeShared
from sim.workload.model import Workload

MOST_ROWS, MOST_TASKS = 24, 1 << 16
"""Largest number of rows, and of tasks that may migrate at one rebuild, for which the loop can be used"""
_MOST_TURNS = 2**52
"""Number of turns beyond which a double (64-bit float) cannot represent every number of turns"""


def _migration_storer(state: State, extension: Extension) -> Callable[..., int]:
    """Return the function that stores the decision that a job migrates, which has no compact form, and returns its
    index among the decisions that are kept as objects.
    """
    jobs, migrations, kept = state.jobs, state.ledger.migrations, extension.kept

    def migrated(
        rank: int, row: int, columns: int, stall: float, form: int, head: int, cost: float, other: float
    ) -> int:
        """Store that the job moves to these columns (bits) of the row and loses `stall` seconds of its turns. The
        reason is that of the form: it names the job `head` if the form says so, and has the cost of the move and that
        of the alternative (negative for none).
        """
        named = [jobs[head]] if FORMS[form].names_job else []
        because = FORMS[form].reason(*named, cost, other if other >= 0 else None)
        migrations[rank] += 1
        kept.append(Migrate(jobs[rank], row, columns, stall, because))
        return len(kept) - 1

    return migrated


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


def enter(loop: RowsPass, state: State, workload: Workload) -> None:
    """Copy the matrix and its jobs into the loop."""
    policy, sharing = _policy(state), state.sharing
    assert sharing is not None
    loop.enter_rows(policy.mpl, sharing.matrix.rows, state.machine.there, sharing.turns, sharing.since)
    loop.enter_policy(isinstance(policy, GangBackfill), policy.q if isinstance(policy, Migrating) else -1)
    loop.migrations, loop.stalled = state.tally.migrations, state.tally.stalled
    loop.gone, loop.looked_in = set(sharing.matrix.gone), state.waiting.step
    for rank, columns, rows in sharing.places():
        loop.enter_job(rank, columns, rows, sharing.ran[rank], sharing.stall[rank], rank in sharing.new)
    for rank, at in state.expected.items():
        loop.enter_plan(rank, state.expected_row[rank], at)
    for rank, at in state.row_planned.items():
        loop.row_planned[rank] = at


def begin(loop: RowsPass, state: State, history: History, extension: Extension) -> None:
    """Prepare the loop to write to this history, into the spare entries that `extension` has added to the columns of
    the history.
    """
    loop.teller, loop.tick = _migration_storer(state, extension), history.tick
    loop.rows_at, loop.kinds = extension.rows, extension.kinds


def settle(loop: RowsPass, state: State) -> None:
    """Copy the matrix and its jobs from the loop back to the run."""
    sharing, places, planned = state.sharing, loop.places(), loop.plans_told()
    assert sharing is not None
    ranks = [rank for rank, _, _ in places]
    loop.set_clock()
    sharing.matrix.become(loop.ids, places, loop.gone)
    sharing.since, sharing.new, sharing.migrated = loop.since, set(loop.new_ranks()), loop.migrated
    sharing.ran = {rank: loop.ran[place] for place, rank in enumerate(ranks)}
    sharing.stall = {rank: loop.stall[rank] for rank in ranks}
    state.machine.hold_only(sharing.on_turn())
    state.expected = {rank: at for rank, _, at in planned}
    state.expected_row = {rank: row for rank, row, _ in planned}
    waiting = state.waiting.jobs
    state.row_planned = {rank: at for rank in waiting if (at := loop.row_planned[rank]) < inf}
    state.waiting.step = loop.looked_in
    state.tally.migrations, state.tally.stalled = loop.migrations, loop.stalled
    if loop.has_rebuilt:
        state.rebuild = ()
        if loop.backfills:
            state.notes["reserved at"], state.notes["reserved row"] = state.expected.copy(), state.expected_row.copy()
