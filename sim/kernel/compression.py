"""Reservations that move to earlier starts, in the fast loop: as `Profile.compression`, but failed searches are
remembered.
"""

from __future__ import annotations

from sim.decisions.decisions import Reserve
from sim.decisions.reasons import Compressed
from sim.history.decision_log import form_of
from sim.kernel.arrays import copy_numbers, set_numbers, time_before
from sim.kernel.present import BY_QUEUE, BY_START, Present
from sim.machine import cython
from sim.machine.moment import APART, MOMENT, whole
from sim.machine.operations import move_pair

COMPRESSED: int = form_of(Reserve, Compressed)


@cython.cclass
class Compression(Present):
    """State of a run in the fast loop, for policies whose reservations last over several passes."""

    def _asks_again(self) -> bool:
        """Return True if the policy must make another pass at once, because a reserved start that was recorded only in
        this step has come already.
        """
        for index in range(self.reservations):
            if self.reserved_at[index] > self.now:
                return False
            if self.planned_in[self.reserved_rank[index]] > self.step:
                return True
        return False

    def _compress(self) -> None:
        """Move reservations to earlier starts: release each one and place it again, as
        `sim.machine.profile.compression` does.
        """
        self._make_plan()
        plan, bounds, now, at, free, last = self.plan, self.bounds, self.now, self.plan.at, self.plan.free, 0
        bounds.forget()
        seen, grown_for, grain, procs_of, length_of, planned = (
            self.seen, self.grown_for, self.grain, self.procs, self.estimate, self.planned,
        )  # fmt: skip
        if plan.begins_sooner:
            self.grown += 1
            set_numbers(grown_for, 0, len(grown_for), self.grown)
            plan.begins_sooner = False
        count = self._line_up()
        walks = self.compress == BY_START
        rank: int
        for rank in self.turn[:count]:
            procs = procs_of[rank]
            if seen[rank] >= grown_for[procs // grain]:  # nothing has come to be free that would do
                continue
            start, length = planned[rank], length_of[rank]
            before = start - MOMENT
            if walks:  # not far from where the job before it stood
                last = min(last, plan.count - 1)
                while last + 1 < plan.count and at[last + 1] < before:
                    last += 1
                while last >= 0 and at[last] >= before:
                    last -= 1
            else:
                last = time_before(at, before, 0, plan.count) - 1
            if last < 0 or (free[last] < procs and now + length > at[last] + MOMENT):
                continue
            seen[rank] = self.grown
            earlier, hope = start, bounds.bound(procs, length, start) - APART
            if hope < now:
                hope = now
            if hope < before and (free[last] >= procs or hope + length <= at[last] + MOMENT):
                earlier = plan.gap_before(last, start, procs, length, hope)
            if earlier < before:
                self._bring_forward(rank, procs, length, start, earlier)
            else:
                earlier = start
            bounds.note(procs, length, start, earlier)

    def _line_up(self) -> int:
        """Write the ranks of the reservations that may move into the column `turn`, in the order in which they are
        tried; return their number.
        """
        count = 0
        if self.compress == BY_START:
            copy_numbers(self.reserved_rank, self.turn, self.reservations)
            self._sort_equal_starts()
            return self.reservations
        if self.compress == BY_QUEUE:
            # new jobs are behind them
            if self.in_order_of_arrival and self.reservations == self.waiting - self.arrived:
                copy_numbers(self.queue, self.turn, self.reservations)
                return self.reservations
            for index in range(self.waiting):
                rank = self.rank_at[self.queue[index]]
                if self.planned_in[rank]:
                    self.turn[count] = rank
                    count += 1
        return count

    def _sort_equal_starts(self) -> None:
        """Sort the reservations in `turn` by rank if their starts differ only by rounding errors."""
        turn, at = self.turn, self.reserved_at
        for index in range(1, self.reservations):
            if at[index] - at[index - 1] <= APART:
                rank, place, start = turn[index], index, whole(at[index])
                while place and turn[place - 1] > rank and whole(self.planned[turn[place - 1]]) == start:
                    turn[place] = turn[place - 1]
                    place -= 1
                turn[place] = rank

    def _bring_forward(self, rank: int, procs: int, length: float, was: float, at: float) -> None:
        """Move the job's reservation, of `procs` processors for `length` seconds, from the start `was` to the earlier
        start `at`.
        """
        plan, end, until = self.plan, at + length, was + length
        if was - at > APART and end - was > APART:  # from then on it keeps its place
            self._make_room(end, until, procs)
            plan.take(at, was, procs)
        else:
            self._make_room(was, until, procs)
            plan.take(at, end, procs)
        move_pair(self.reserved_at, self.reserved_rank, self.reservations, was, at, rank)
        self.planned[rank] = at
        self.planned_in[rank] = self.step + 1
        self.seen[rank] = self.grown
        if at <= self.now:
            self.is_due = True
        moves = self.moves
        self.moved_rank[moves], self.moved_by[moves] = rank, at - was
        self.moves = moves + 1
        self._note(COMPRESSED, rank, -1, at, was, 0.0)
