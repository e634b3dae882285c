"""From the state to the loop of gang scheduling, and back: what it has beside what every loop has."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from sim.decisions.decisions import Decision
from sim.decisions.matrix import (
    BestFit,
    EarliestInRow,
    MakesWay,
    Migrate,
    NewRow,
    OtherColumns,
    Place,
    ReserveRow,
    Stall,
)
from sim.decisions.sentences import Reason
from sim.engine.express.preempting import WIDEST
from sim.engine.state import State
from sim.history.extension import Extension
from sim.history.history import History
from sim.policies.gang.gang import GangBackfill, Migrating, TimeShared
from sim.workload.model import Job, Workload

MOST_ROWS = 24
"""More are left to the engine"""


class _Teller:
    """Writes what the loop decides into the history."""

    def __init__(self, state: State, decided: Callable[[Decision], None]) -> None:
        self._jobs, self._mpl, self._decided = state.jobs, _policy(state).mpl, decided
        self._made = state.jobs.made
        self._planned: dict[int, tuple[Job, EarliestInRow]] = {}
        """What is said again and again of those who wait long"""
        self._tally, self._migrations = state.tally, state.ledger.migrations

    def _job(self, rank: int) -> Job:
        """One after another comes into the matrix: many are made at once."""
        return self._made[rank] or self._jobs.next(rank)

    def placed(self, rank: int, row: int, columns: int, free: int, span: float, passes: bool) -> None:
        """In a row that was there."""
        why = BestFit(free, span if span >= 0 else None)
        self._decided(Place(self._job(rank), row, columns, why, passes))

    def opened(self, rank: int, row: int, columns: int, rows: int, span: float, passes: bool) -> None:
        """In a new row."""
        why = NewRow(rows, self._mpl, span=span if span >= 0 else None)
        self._decided(Place(self._job(rank), row, columns, why, passes))

    def reserved(self, rank: int, row: int, at: float, span: float) -> None:
        known = self._planned.get(rank)
        if known is None:
            known = self._planned[rank] = self._job(rank), EarliestInRow(span)
        self._decided(ReserveRow(known[0], row, at, known[1]))

    def makes_way(self, rank: int, cost: float, other: float | None) -> Reason:
        """For whom somebody does."""
        return MakesWay(self._jobs[rank], cost, other)

    def other_columns(self, cost: float, other: float | None) -> Reason:
        return OtherColumns(cost, other)

    def migrated(self, rank: int, row: int, columns: int, stall: float, why: Reason) -> None:
        """To other columns."""
        job, tally = self._jobs[rank], self._tally
        tally.stalled += stall * job.procs
        tally.migrations += 1
        self._migrations[rank] += 1
        self._decided(Migrate(job, row, columns, stall, why))

    def stalled(self, rank: int, seconds: float, why: Reason) -> None:
        """By the migration of others."""
        job = self._jobs[rank]
        self._tally.stalled += seconds * job.procs
        self._decided(Stall(job, seconds, why))


def _policy(state: State) -> TimeShared:
    assert isinstance(state.policy, TimeShared)
    return state.policy


def can_go_on(state: State) -> bool:
    """Is everything in the matrix, and all that is planned, known to the loop?"""
    sharing = state.sharing
    if sharing is None or sharing.to_turn is not None or state.procs > WIDEST:
        return False
    if not len(sharing.matrix.rows) <= _policy(state).mpl <= MOST_ROWS:
        return False
    unknown = state.suspended, state.timers, state.wakes, state.reserved
    return not any(unknown) and state.notes.get("reserved at", {}) == state.expected


def enter(loop: Any, state: State, workload: Workload) -> None:
    """The loop stands where the state stands."""
    policy, sharing = _policy(state), state.sharing
    assert sharing is not None
    loop.turns, loop.since = sharing.turns, sharing.since
    loop.enter_rows(policy.mpl, sharing.matrix.rows, state.machine.there)
    loop.enter_policy(isinstance(policy, GangBackfill), sharing.turns.slice)
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
    """The loop writes there."""
    loop.teller, loop.tick, loop.rows_at = _Teller(state, history.decided), history.tick, extension.rows
    loop.told, loop.kinds = extension.told, extension.kinds


def settle(loop: Any, state: State) -> None:
    """The state stands where the loop stands."""
    sharing, places, planned = state.sharing, loop.places(), loop.plans_told()
    assert sharing is not None
    ranks = [rank for rank, _, _ in places]
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
