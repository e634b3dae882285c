"""Plan in two columns: free processors over future time."""

from __future__ import annotations

from sim.kernel import cython
from sim.kernel.columns import (
    A_MOMENT,
    INFINITE,
    Numbers,
    Times,
    begin_steps,
    copy_numbers,
    copy_times,
    growing_numbers,
    growing_times,
    remove_numbers,
    remove_times,
    time_before,
    time_up_to,
)
from sim.kernel.operations import insert_step, remove_step


@cython.cclass
class Plan:
    """Plan of the free processors over future time: `sim.machine.profile.Profile` as two columns of `count` steps."""

    def __init__(self, most: int) -> None:
        self.at, self.free = growing_times(most), growing_numbers(most)
        self.count = 0
        """Number of steps; 0 without a plan"""
        self.begins_sooner = False
        """True if a step less than a microsecond away has been moved to the present"""

    def clear(self) -> None:
        """Drop the plan."""
        remove_times(self.at, self.count, 0, self.count)
        remove_numbers(self.free, self.count, 0, self.count)
        self.count = 0

    def make(self, now: float, free: int, at: Times, more: Numbers, count: int) -> None:
        """Make a plan with `free` processors from now on, and `more` additional ones at each time in `at`."""
        times, numbers, last = self.at, self.free, 0
        insert_step(times, numbers, 0, 0, now, free)
        for index in range(count):
            free += more[index]
            time = at[index]
            if time - times[last] <= A_MOMENT:
                numbers[last] = free
            else:
                last += 1
                insert_step(times, numbers, last, last, time, free)
        self.count = last + 1

    def become(self, other: Plan) -> None:
        """Replace this plan by a copy of another plan."""
        copy_times(other.at, self.at, other.count)
        copy_numbers(other.free, self.free, other.count)
        self.count = other.count

    def advance(self, now: float) -> None:
        """Drop all steps before `now`."""
        if self.at[0] == now:
            return
        index = time_up_to(self.at, now + A_MOMENT, 0, self.count) - 1
        if index > 0:
            remove_times(self.at, self.count, 0, index)
            remove_numbers(self.free, self.count, 0, index)
            self.count -= index
        if self.at[0] > now:
            self.begins_sooner = True
        self.at[0] = now

    def take(self, start: float, end: float, procs: int) -> None:
        """Remove `procs` processors (add, if negative) from `start` until `end`."""
        at, free, count = self.at, self.free, self.count
        if end - start <= A_MOMENT:
            return
        first = time_before(at, start - A_MOMENT, 0, count)
        if first == count or at[first] > start + A_MOMENT:
            insert_step(at, free, count, first, start, free[first - 1])
            count += 1
        last = time_before(at, end - A_MOMENT, first, count)
        for index in range(first, last):
            free[index] = free[index] - procs
        if last == count or at[last] > end + A_MOMENT:
            insert_step(at, free, count, last, end, free[last - 1] + procs)
            count += 1
        elif last and free[last] == free[last - 1]:
            remove_step(at, free, count, last)
            count -= 1
        if first and free[first] == free[first - 1]:
            remove_step(at, free, count, first)
            count -= 1
        self.count = count

    def earliest(self, procs: int, duration: float, after: float) -> float:
        """Return the first time from `after` on at which `procs` processors stay free for `duration`; infinite if there
        is none.
        """
        at, free, count = self.at, self.free, self.count
        index = time_up_to(at, after + A_MOMENT, 0, count) - 1
        while index < count:
            if free[index] >= procs:
                candidate: float = at[index]
                if candidate < after:
                    candidate = after
                end = candidate + duration
                index += 1
                while index < count and free[index] >= procs and end > at[index] + A_MOMENT:
                    index += 1
                if index == count or end <= at[index] + A_MOMENT:
                    return candidate
            index += 1
        return INFINITE

    def fits(self, procs: int, start: float, duration: float) -> bool:
        """Return True if `procs` processors are free from `start` for `duration`."""
        at, free, end = self.at, self.free, start + duration
        index = time_up_to(at, start + A_MOMENT, 0, self.count) - 1
        while index < self.count and at[index] + A_MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def gap_before(self, last: int, start: float, procs: int, duration: float, after: float) -> float:
        """Return the first place for the job among the steps up to `last`, else `start`; the place may reach into
        `start`.
        """
        at, free, found, until = self.at, self.free, start, INFINITE
        first = after + A_MOMENT
        for index in range(last, -1, -1):
            step = at[index]
            if free[index] < procs:
                until = step
            else:
                if step < after:
                    step = after
                if step + duration <= until + A_MOMENT:
                    found = step
            if step <= first:
                break
        return found


@cython.cclass
class RowPlan(Plan):
    """Plan of the future of one row of the matrix."""

    def __init__(self, most: int) -> None:
        Plan.__init__(self, most)
        self.only_rises = True
        """True if the number of free columns never decreases, as without reservations"""

    def begin(self, now: float, free: int) -> None:
        """Begin a plan with `free` columns from now on."""
        begin_steps(self.at, self.free, now, free)
        self.count, self.only_rises = 1, True

    def stay_free(self, procs: int, span: float) -> bool:
        """Return True if `procs` columns, free at the beginning, stay free for the span."""
        if self.only_rises:
            return True
        at, free, end, index = self.at, self.free, self.at[0] + span, 1
        while index < self.count and at[index] + A_MOMENT < end:
            if free[index] < procs:
                return False
            index += 1
        return True

    def note(self, at: float, by: int) -> None:
        """Record that `by` more columns are free from `at` on; `add_up` then makes the plan."""
        insert_step(self.at, self.free, self.count, time_up_to(self.at, at, 0, self.count), at, by)
        self.count += 1

    def add_up(self, now: float, free: int) -> None:
        """Make the plan from `free` columns now and the recorded changes."""
        at, numbers, count, last = self.at, self.free, self.count + 1, 0
        insert_step(at, numbers, count - 1, 0, now, free)
        for index in range(1, count):
            free += numbers[index]
            if at[index] - at[last] > A_MOMENT:
                last += 1
                at[last] = at[index]
            numbers[last] = free
        self._cut_off(count, last + 1)

    def _cut_off(self, count: int, kept: int) -> None:
        """Shorten the plan from `count` to `kept` steps."""
        if kept < count:
            remove_times(self.at, count, kept, count - kept)
            remove_numbers(self.free, count, kept, count - kept)
        self.count = kept

    def simplify(self) -> None:
        """Remove steps at which the number of free columns does not change."""
        at, free, kept = self.at, self.free, 1
        for index in range(1, self.count):
            if free[index] != free[index - 1]:
                at[kept] = at[index]
                free[kept] = free[index]
                kept += 1
        self._cut_off(self.count, kept)
