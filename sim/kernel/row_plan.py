"""Plan of one row of the matrix: how many of its columns (processors) are free at each future time."""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import begin_steps, remove_numbers, remove_times, time_up_to
from sim.machine.moment import MOMENT
from sim.machine.operations import insert_step
from sim.machine.steps import Steps


@cython.cclass
class RowPlan(Steps):
    """Plan of the future of one row of the matrix, as a step function: its number of free columns over time."""

    def __init__(self, most: int) -> None:
        Steps.__init__(self, most)
        self.only_rises = True
        """True if the number of free columns never decreases with time, as is the case without reservations"""

    def begin(self, now: float, free: int) -> None:
        """Begin a plan in which `free` columns are free from now on."""
        begin_steps(self.at, self.free, now, free)
        self.count, self.only_rises = 1, True

    def stay_free(self, procs: int, span: float) -> bool:
        """Return True if `procs` columns, which are free at the begin of the plan, stay free for `span` seconds."""
        if self.only_rises:
            return True
        at, free, end, index = self.at, self.free, self.at[0] + span, 1
        while index < self.count and at[index] + MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def note(self, at: float, by: int) -> None:
        """Add a change to the plan: `by` more columns are free from time `at` on. `add_up` later turns all changes into
        a plan.
        """
        insert_step(self.at, self.free, self.count, time_up_to(self.at, at, 0, self.count), at, by)
        self.count += 1

    def add_up(self, now: float, free: int) -> None:
        """Turn the changes recorded by `note` into a plan that begins with `free` free columns at `now`."""
        at, numbers, count, last = self.at, self.free, self.count + 1, 0
        insert_step(at, numbers, count - 1, 0, now, free)
        for index in range(1, count):
            free += numbers[index]
            if at[index] - at[last] > MOMENT:
                last += 1
                at[last] = at[index]
            numbers[last] = free
        self._cut_off(count, last + 1)

    def _cut_off(self, count: int, kept: int) -> None:
        """Shorten the plan from `count` steps to its first `kept` steps."""
        if kept < count:
            remove_times(self.at, count, kept, count - kept)
            remove_numbers(self.free, count, kept, count - kept)
        self.count = kept

    def simplify(self) -> None:
        """Remove the steps of the plan at which the number of free columns does not change."""
        at, free, kept = self.at, self.free, 1
        for index in range(1, self.count):
            if free[index] != free[index - 1]:
                at[kept] = at[index]
                free[kept] = free[index]
                kept += 1
        self._cut_off(self.count, kept)
