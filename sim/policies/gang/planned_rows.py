"""Search for the earliest start of a job in the plans of the matrix rows (Zhang et al. 2000, section 5.2).

The plans are stored in arrays of numbers; the file is also a part of the compiled loop.
"""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import INFINITE, number_before, numbers, time_near, times
from sim.machine.moment import MOMENT
from sim.machine.steps import Steps

SPANS = 4
"""Largest number of searches in each list"""


def span_in_row(left: float, mpl: int) -> float:
    """Return the seconds for which the plan of a row holds a job's columns, as the row may be `mpl` times slower;
    `left` are the seconds left of the job's estimate.
    """
    return left * mpl


@cython.cclass
class PlannedRows:
    """Plans of all rows in their order, to find the row in which a job can start first. A row that would be opened next
    may be the last of them.

    Results of the last searches for each width are kept as lower bounds. Columns are only ever taken in these plans, so
    a later job of the same width, and as long or longer, cannot start earlier in a row than was found then.
    """

    def __init__(self, most: int, lists: int) -> None:
        """Make an object for up to `most` rows. Searches are remembered in so many lists; jobs whose widths differ by a
        multiple of `lists` share one.
        """
        self.now, self.lists = 0.0, lists
        self.count, self.most = 0, most
        """Number of rows with a plan, and the largest number of rows"""
        self.plans: list[Steps] = []
        self.room, self.rises = numbers(most), numbers(most)
        """For each row: number of its columns that no job holds, and 1 if this number never decreases in the plan"""
        self.new_row = -1
        """Index of the row that would be opened next; -1 if there is none"""
        self.at, self.found = 0.0, 0
        """Result of the last search: the earliest start, and the index of the row in which that is"""
        self.trial = 0
        """Number of the present plans, which grows when plans are begun or a row is added; searches of earlier plans do
        not count
        """
        searches = lists * SPANS
        self.tried_in, self.tried_procs, self.tried_span = numbers(searches), numbers(searches), times(searches)
        self.tries = numbers(lists)
        self.tried_after, self.tried_near = times(searches * most), numbers(searches * most)
        """For each remembered search and row: the earliest possible start, and the index of a step near it"""

    def begin(self, now: float) -> None:
        """Remove all rows; the plans that are added then begin at `now`."""
        self.now, self.count, self.new_row = now, 0, -1
        self.plans.clear()
        self.trial += 1

    def add(self, plan: Steps, room: int, rises: bool) -> None:
        """Add the plan of the next row; `room` columns of it are free now, and `rises` is True if this number never
        decreases in the plan.
        """
        self.plans.append(plan)
        self.room[self.count], self.rises[self.count] = room, rises
        self.count += 1

    def add_new_row(self, plan: Steps, room: int, rises: bool) -> None:
        """Add the plan of the row that would be opened next; the arguments are those of `add`."""
        self.new_row = self.count
        self.add(plan, room, rises)
        self.trial += 1

    def stays_free(self, index: int, procs: int, span: float) -> bool:
        """Return True if `procs` columns of the row at this index are free from now on for `span` seconds."""
        plan: Steps = self.plans[index]
        end, step = self.now + span, 1
        if plan.free[0] < procs:
            return False
        if self.rises[index]:
            return True
        while step < plan.count and plan.at[step] + MOMENT < end:
            if plan.free[step] < procs:
                return False
            step += 1
        return True

    def book(self, procs: int, span: float) -> None:
        """Find the earliest start of a job in any row, of equal rows the earlier, set `at` and `found` to it, and
        occupy the columns in the plan of that row. The caller must place the job or reserve this start for it.

        If the job can start now, the row with the fewest free columns is preferred, and a new row is the last choice.
        """
        self.at, self.found = self.now, self._fullest(procs, span)
        if self.found < 0:
            self.book_later(procs, span)
            return
        self.room[self.found] -= procs
        if self.found == self.new_row:
            self.new_row = -1
        self._occupy(procs, span)

    def book_later(self, procs: int, span: float) -> None:
        """Do the same for a job that can certainly start in no row now."""
        self._search(procs, span)
        self.rises[self.found] = 0
        self._occupy(procs, span)

    def _occupy(self, procs: int, span: float) -> None:
        plan: Steps = self.plans[self.found]
        plan.take(self.at, self.at + span, procs)

    def _fullest(self, procs: int, span: float) -> int:
        """Return the index of the row with the fewest free columns of those where the job can start now; -1 if there is
        none.
        """
        best, rows = -1, self.count if self.new_row < 0 else self.new_row
        for index in range(rows):
            room = self.room[index]
            if room >= procs and (best < 0 or room < self.room[best]) and self.stays_free(index, procs, span):
                best = index
        if best < 0 <= self.new_row and self.stays_free(self.new_row, procs, span):
            return self.new_row
        return best

    def _search(self, procs: int, span: float) -> None:
        """Set `at` and `found` to the earliest start of a job and the row in which that is."""
        bucket, like, longest = procs % self.lists, -1, -INFINITE
        first = own = bucket * SPANS
        for turn in range(first, first + SPANS):
            is_known = self.tried_in[turn] == self.trial and self.tried_procs[turn] == procs
            if is_known and longest < self.tried_span[turn] <= span:
                like, longest = turn, self.tried_span[turn]
        if like >= 0 and longest == span:
            own = like
        else:
            own = first + self.tries[bucket] % SPANS
            self.tries[bucket] += 1
        best, found, is_known = INFINITE, 0, like >= 0
        before, after_this = like * self.most, own * self.most
        for index in range(self.count):
            after, near = -INFINITE, 0
            if is_known:
                after, near = self.tried_after[before + index], self.tried_near[before + index]
            if after < best - MOMENT:
                plan: Steps = self.plans[index]
                if self.rises[index]:
                    near = number_before(plan.free, procs, 0, plan.count)
                else:
                    near = self._first_step(
                        plan, procs, span, time_near(plan.at, after, near, plan.count), best - MOMENT
                    )
                after = plan.at[near] if near < plan.count else INFINITE
                if after < best - MOMENT:
                    best, found = after, index
            self.tried_after[after_this + index], self.tried_near[after_this + index] = after, near
        self.tried_in[own], self.tried_procs[own], self.tried_span[own] = self.trial, procs, span
        self.at, self.found = best, found

    def _first_step(self, plan: Steps, procs: int, span: float, near: int, before: float) -> int:
        """Return the index of the first step of the plan, from index `near` on, from which on `procs` columns stay free
        for `span` seconds. The search ends at the first step that is not before the time `before`.
        """
        count = plan.count
        while near < count and plan.at[near] < before:
            if plan.free[near] >= procs:
                until, end = near + 1, plan.at[near] + span
                while until < count and plan.free[until] >= procs and end > plan.at[until] + MOMENT:
                    until += 1
                if until == count or end <= plan.at[until] + MOMENT:
                    return near
                near = until
            near += 1
        return near
