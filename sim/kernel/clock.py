"""Clock of the matrix rows in the fast loop (the simulation over arrays of numbers), with the same operations as in
`sim.machine.turns`.

When rows are added or removed, the engine's own clock object decides which row is active; otherwise this clock only
advances.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import growing_numbers, numbers, times, whole_turns
from sim.kernel.loop import Loop
from sim.machine import cython
from sim.machine.moment import MOMENT
from sim.machine.operations import count_progress, differences, sum_at, sum_of_products, turns_for


@cython.cclass
class Clock(Loop):
    """Fast loop for a matrix whose rows take turns. Each row has a slot: the index of its entry in the columns
    (arrays).
    """

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.turns: Any = None
        """Clock object of the engine, to which this clock is copied"""
        self.tick: Any = None
        """Function that records a change of the clock in the history"""
        self.rows = 0
        self.ids: tuple[int, ...] = ()
        self.since = self.begin = self.slice = self.overhead = self.a_turn = 0.0
        """All in seconds: time up to which progress is computed; begin of this turn; lengths of a turn, of its
        overhead, and of the rest, in which jobs run
        """
        self.cycle = self.on_turn = 0
        """Number of rows that take turns, and the index of the active one among them"""
        self.is_known = False
        """True if `made`, the progress from the begin of this turn until `since`, is computed"""
        self.has_turned = self.has_other_rows = False
        """Two flags about the time since the last step: True if another row became active; True if the set of rows
        changed
        """

    def enter_clock(self, turns: Any, since: float, slots: int) -> None:
        """Copy the engine's clock, which has advanced to `since`, into the loop; there are at most `slots` rows."""
        self.turns, self.since = turns, since
        self.slice, self.overhead = turns.slice, turns.overhead
        self.a_turn = self.slice - self.overhead
        self.order, self.empty = growing_numbers(slots), numbers(slots)
        """Slots of the rows in the order of turns; and for each slot the number of columns of its row that no job
        uses
        """
        self.made, self.to_be_made, self.share = times(slots), times(slots), times(slots)
        """Three columns with seconds of progress for each row, in the order of turns: `made` from the begin of this
        turn until `since`, `to_be_made` from the begin of this turn until a later time, `share` between these two times
        """
        self.seconds = times(slots)
        """For each row, in the order of turns: seconds for which it is active in the time that `_empty_until`
        examines
        """
        self._ask_clock()

    def set_clock(self) -> None:
        """Copy the state of this clock to the engine's clock object."""
        if self.cycle:
            self.turns.turn_to(self.turns.rows[self.on_turn], self.begin)

    def _ask_clock(self) -> None:
        rows = self.turns.rows
        self.cycle, self.begin = len(rows), self.turns.begin
        self.on_turn = rows.index(self.turns.row) if rows else 0
        self.is_known, self.has_turned = False, True

    # Going on

    def _share_out(self, to: float) -> None:
        """Set `share` to each row's progress from `since` until `to`; the caller must then set `since` to `to`."""
        if self.cycle < 2:
            self.share[0] = to - self.since
            return
        if not self.is_known:
            self._count_progress()
        made = self.to_be_made
        count_progress(to - self.begin, self.slice, self.overhead, self.cycle, self.on_turn, made)
        differences(made, self.made, self.cycle, self.share)
        self.made, self.to_be_made = made, self.made

    def _count_progress(self) -> None:
        """Compute into `made` each row's progress from the begin of the turn until `since`."""
        count_progress(self.since - self.begin, self.slice, self.overhead, self.cycle, self.on_turn, self.made)
        self.is_known = True

    def _advance(self, to: float) -> None:
        """Advance to `to`; if a turn ends there, the next row with unfinished jobs becomes active."""
        if self.cycle < 2:
            return
        ended = whole_turns(to - self.begin + MOMENT, self.slice)
        if ended <= 0:
            return
        self.is_known, self.has_turned = False, True
        self.begin += ended * self.slice
        place = self.on_turn + ended
        if self.begin >= to - MOMENT:
            for index in range(place, place + self.cycle):
                self.on_turn = index % self.cycle
                if self.empty[self.order[self.on_turn]] < self.size:
                    return
        else:
            self.on_turn = place % self.cycle

    def _settle_clock(self, now: float) -> None:
        """Update the clock at the end of a step, when the matrix does not change any more."""
        if self.has_other_rows or not self.rows:
            self.set_clock()
            self.turns.settle(now, self.ids)
            self._ask_clock()
        if self.has_turned:
            self.set_clock()
            self.tick(now, self.turns, self.step)
            self.has_turned = False

    # Progress of jobs

    def _finish(self, places: tuple[int, ...], work: float) -> float:
        """Return the time at which a job will have run for `work` more seconds if the rows do not change.

        `places` are the positions of the job's rows in the order of turns.
        """
        since, cycle, many, a_turn, overhead = self.since, self.cycle, len(places), self.a_turn, self.overhead
        if cycle < 2:
            return since + work
        if not self.is_known:
            self._count_progress()
        work += self.made[places[0]] if many == 1 else sum_at(self.made, places)
        whole = turns_for(work, a_turn) - 1
        if whole < 0:
            whole = 0
        ended = whole // many
        turn = self._turn_of(places, whole - ended * many)
        rest = work - whole * a_turn
        end: float = self.begin + (ended * cycle + turn) * self.slice
        end += self.slice if rest > a_turn - MOMENT else overhead + rest
        return end if end > since else since

    def _turn_of(self, places: tuple[int, ...], number: int) -> int:
        """Return how many turns after the active turn certain rows have their turn with the index `number`, counted
        from 0.

        `places` are the positions of these rows in the order of turns. The active turn counts as index 0 if it is one
        of theirs.
        """
        cycle, its = self.cycle, 0
        if len(places) == 1:
            return (places[0] - self.on_turn + cycle) % cycle
        place: int
        for place in places:
            its |= 1 << place
        for turn in range(self.on_turn, self.on_turn + cycle):
            if its >> turn % cycle & 1:
                if not number:
                    return turn - self.on_turn
                number -= 1
        return 0

    def _empty_until(self, to: float) -> float:
        """Return the processor-seconds that no job uses from `self.since` until `to`. The caller has put each row's
        progress in this time into `self.share`.
        """
        seconds = self.share
        if not self.cycle:
            return self.size * (to - self.since)
        if self.overhead and self.cycle > 1:
            seconds, before = self.seconds, self.to_be_made
            count_progress(self.since - self.begin, self.slice, 0.0, self.cycle, self.on_turn, before)
            count_progress(to - self.begin, self.slice, 0.0, self.cycle, self.on_turn, seconds)
            differences(seconds, before, self.cycle, seconds)
        return sum_of_products(self.empty, self.order, seconds, self.cycle)
