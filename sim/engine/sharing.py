"""Time sharing: the jobs in the matrix, the active row, and the progress of the jobs.

The engine calls `elapse` to advance the time, and `next_end` and `next_start` for the times of the next events. It
passes the true run times as arguments, because they are not stored here. The progress between two instants is computed
from the numbers of turns, without a loop over the turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

from sim.machine.moment import MOMENT
from sim.machine.ousterhout_matrix import Matrix
from sim.machine.turns import Turns
from sim.support.errors import NotThereError

MOST_COLUMNS: Final = 1_000_000
"""Largest size of the matrix (columns times rows): a rebuild takes time and memory for each job and row."""


class Sharing:
    """Matrix of a time-shared machine, with the clock of its rows and the progress of the jobs in it."""

    def __init__(self, procs: int, turns: Turns, there: int | None = None) -> None:
        """Make an empty matrix with `procs` columns; `there` are the available processors as bits, None for all."""
        if procs > MOST_COLUMNS:
            raise NotThereError(f"rows of {procs:,} processors cannot take turns: {MOST_COLUMNS:,} is the most")
        self.matrix, self.turns = Matrix(procs), turns
        if there is not None:
            self.matrix.resize(there)
        self.since: float = 0.0
        """Time up to which the progress of the jobs is computed."""
        self.ran: dict[int, float] = {}
        """For the rank of each job in the matrix: seconds for which it has run"""
        self.stall: dict[int, float] = {}
        """For the rank of each job in the matrix: seconds of its own turns in which it still makes no progress because
        of migrations
        """
        self.new: set[int] = set()
        """Ranks of the jobs in the matrix that have not had a turn."""
        self.migrated = 0
        """Number of tasks that have migrated in the present rebuild of the matrix."""
        self.to_turn: int | None = None
        """Row that becomes active after the rebuild, out of turn; None if the row whose turn it is becomes active."""

    def copy(self) -> Sharing:
        twin = Sharing(self.matrix.procs, self.turns.copy())
        twin.matrix, twin.since = self.matrix.copy(), self.since
        twin.to_turn, twin.migrated = self.to_turn, self.migrated
        twin.ran, twin.stall, twin.new = self.ran.copy(), self.stall.copy(), self.new.copy()
        return twin

    # Predictions

    def next_end(self, before: float, runtimes: Sequence[float]) -> float:
        """Return the time at which the next job in the matrix ends; inf if later than `before` or if there is none.
        `runtimes` are the true run times in seconds, by rank.
        """
        if not self.ran:
            return inf
        stall, since, finish = self.stall, self.since, self.turns.finish
        needs = [runtimes[rank] - ran + stall[rank] for rank, ran in self.ran.items()]
        first = min(needs)
        if since + first > before:
            return inf
        standing = [*self.matrix.standing.values()]
        its = standing[needs.index(first)]
        end = finish(its, first, since)
        soon = min(before, end + MOMENT) - since  # jobs that need more end no sooner, even alone
        least: dict[tuple[int, ...], float] = {}
        for place, need in enumerate(needs):
            if need <= soon and (rows := standing[place]) != its and need < least.get(rows, inf):
                least[rows] = need
        for rows, need in least.items():
            end = min(end, finish(rows, need, since))
        return end

    def next_start(self) -> float:
        if not self.new:
            return inf
        return min(self.turns.first_stand(self.matrix.rows_of(rank), self.since) for rank in self.new)

    # Events

    def elapse(self, to: float, runtimes: Sequence[float]) -> list[int]:
        """Advance the time to `to`. Return the ranks of the jobs that have ended by then, which are also removed from
        the matrix.

        `runtimes` are the true run times in seconds, by rank.
        """
        by_row = self.turns.gains(self.since, to)
        self.since = to
        gains: dict[tuple[int, ...], float] = {}
        stall, progress, standing, done = self.stall, self.ran, self.matrix.standing, list[int]()
        for rank, ran in progress.items():
            rows = standing[rank]
            known = gains.get(rows)
            if known is None:
                known = 0.0
                for row in rows:
                    known += by_row[row]
                gains[rows] = known
            gain: float = known
            if stalled := stall[rank]:
                lost = min(stalled, gain)
                stall[rank] = stalled = stalled - lost
                gain -= lost
            progress[rank] = ran = ran + gain
            if runtimes[rank] - ran + stalled <= MOMENT:
                done.append(rank)
        for rank in sorted(done):
            self.leave(rank)
        self.turns.advance(to, self.matrix.occupied_rows)
        return sorted(done)

    def come_in(self, rank: int, row: int, columns: int, ran: float, is_new: bool) -> None:
        """Add the job `rank` to the matrix, in `row` and in the columns `columns` (bits).

        The job has run for `ran` seconds; `is_new` is True if it never had a turn.
        """
        self.matrix.place(rank, row, columns)
        self.ran[rank], self.stall[rank] = ran, 0
        if is_new:
            self.new.add(rank)

    def leave(self, rank: int) -> None:
        self.matrix.remove(rank)
        del self.ran[rank], self.stall[rank]
        self.new.discard(rank)

    def settle(self, now: float) -> list[int]:
        """Update the clock of the rows after a rebuild; return the ranks of the jobs whose first turn begins now."""
        self.turns.settle(now, self.matrix.rows)
        if self.to_turn is not None:
            self.turns.turn_to(self.to_turn, now)
            self.to_turn = None
        rows_of, row = self.matrix.rows_of, self.turns.row
        first = sorted(rank for rank in self.new if row in rows_of(rank)) if self.new else []
        self.new.difference_update(first)
        return first

    # State

    def on_turn(self) -> dict[int, int]:
        row = self.turns.row
        return {rank: self.matrix.columns(rank) for rank, rows in self.matrix.standing.items() if row in rows}

    def empty_until(self, to: float) -> float:
        """Return the processor-seconds that no job uses between `since` and `to`."""
        procs, turns = self.matrix.size, self.turns
        if turns.row is None:
            return procs * (to - self.since)
        empty = 0.0
        for row, seconds in turns.on_turn(self.since, to).items():
            empty += self.matrix.free(row) * seconds
        return empty

    def expected_end(self, rank: int, estimate: float) -> float:
        """Return when the job would end if it had to run for `estimate` more seconds and the matrix did not change."""
        return self.turns.finish(self.matrix.rows_of(rank), estimate + self.stall[rank], self.since)
