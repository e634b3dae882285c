"""Plans of the matrix rows, in which backfilling gang scheduling makes reservations (Zhang et al. 2000, section 5.2).

A row is planned as a separate machine that may be `mpl` times slower. In the plan a job occupies its processors from
now on for its span: its remaining estimate times `mpl`. This holds even if the job is replicated in other rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Final

from sim.machine.moment import MOMENT
from sim.machine.profile import Profile
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment

SPANS: Final = 4
"""Largest number of searches that are remembered for each width"""


def span_in_row(left: float, mpl: int) -> float:
    """Return the seconds for which the plan of a row holds a job's columns, as the row may be `mpl` times slower;
    `left` are the seconds left of the job's estimate.
    """
    return left * mpl


class PlannedRows:
    """Plans of all rows in their order, to find the row in which a job can start first. A row that would be opened next
    may be the last of them.

    Results of the last searches for each width are kept as lower bounds. Columns are only ever taken in these plans, so
    a later job of the same width, and as long or longer, cannot start earlier in a row than was found then.
    """

    def __init__(self, now: float) -> None:
        self._now = now
        self._plans: list[Profile] = []
        self._room: list[int] = []
        """For each row: number of its columns that no job holds"""
        self._rises: list[bool] = []
        """For each row: True if the number of its free columns never decreases in the plan"""
        self._new_row = -1
        """Index of the row that would be opened next; -1 if there is none"""
        self._searches: dict[int, dict[float, list[float]]] = {}
        """For each width, and each length of the last searches: the earliest possible start in each row"""

    def add(self, plan: Profile, room: int, rises: bool, is_new: bool = False) -> None:
        """Add the plan of the next row; `room` columns of it are free now, and `rises` is True if this number never
        decreases in the plan. A row that `is_new` would be opened next.
        """
        if is_new:
            self._new_row = len(self._plans)
        self._plans.append(plan)
        self._room.append(room)
        self._rises.append(rises)

    def book(self, procs: int, span: float) -> tuple[float, int]:
        """Find the earliest start of a job in any row, of equal rows the earlier; return it with the index of the row,
        and occupy the columns in the plan of that row. The caller must place the job or reserve this start for it.

        If the job can start now, the row with the fewest free columns is preferred, and a new row is the last choice.
        """
        at, found = self._now, self._fullest(procs, span)
        if found < 0:
            at, found = self._search(procs, span)
            self._rises[found] = False
        else:
            self._room[found] -= procs
            if found == self._new_row:
                self._new_row = -1
        self._plans[found].take(at, at + span, procs)
        return at, found

    def _fullest(self, procs: int, span: float) -> int:
        """Return the index of the row with the fewest free columns where the job can start now; -1 without one."""
        best, rows = -1, len(self._plans) if self._new_row < 0 else self._new_row
        for index in range(rows):
            room = self._room[index]
            if room >= procs and (best < 0 or room < self._room[best]) and self._stays_free(index, procs, span):
                best = index
        if best < 0 <= self._new_row and self._stays_free(self._new_row, procs, span):
            return self._new_row
        return best

    def _stays_free(self, index: int, procs: int, span: float) -> bool:
        plan = self._plans[index]
        return plan.free[0] >= procs and (self._rises[index] or plan.shortage_of(procs, self._now + span) < 0)

    def _search(self, procs: int, span: float) -> tuple[float, int]:
        """Return the earliest start of a job, and the index of the row in which that is."""
        searches = self._searches.setdefault(procs, {})
        like = -inf
        for length in searches:
            if like < length <= span:
                like = length
        bounds, starts, best, found = searches.get(like), list[float](), inf, 0
        for index, plan in enumerate(self._plans):
            at = -inf if bounds is None else bounds[index]
            if at < best - MOMENT:
                if self._rises[index]:
                    step = bisect_left(plan.free, procs)
                else:
                    step = _first_step(plan, procs, span, bisect_left(plan.at, at), best - MOMENT)
                at = plan.at[step] if step < len(plan.at) else inf
                if at < best - MOMENT:
                    best, found = at, index
            starts.append(at)
        if len(searches) == SPANS and span not in searches:
            del searches[next(iter(searches))]
        searches[span] = starts
        return best, found


def _first_step(plan: Profile, procs: int, span: float, near: int, before: float) -> int:
    """Return the index of the first step of the plan, from index `near` on, from which on `procs` columns stay free for
    `span` seconds. The search ends at the first step that is not before the time `before`.
    """
    at, free, count = plan.at, plan.free, len(plan.at)
    while near < count and at[near] < before:
        if free[near] >= procs:
            until, end = near + 1, at[near] + span
            while until < count and free[until] >= procs and end > at[until] + MOMENT:
                until += 1
            if until == count or end <= at[until] + MOMENT:
                return near
            near = until
        near += 1
    return near


class RowPlans:
    """Plan of each row, made on first use from the jobs whose home is the row and from the reservations in it."""

    def __init__(self, view: Moment, mpl: int, is_reserved: bool) -> None:
        """Make the plans; with `is_reserved` they contain the reservations that stand now. A reserved start in the past
        counts as now.
        """
        self._view, self._matrix, self._mpl, self._now = view, view.matrix, mpl, view.now
        self._plans: dict[int, Profile] = {}
        self._homes: dict[int, list[int]] | None = None
        self._reserved: dict[int, list[tuple[Job, float]]] = {}
        """For each row: reservations (job, start) that stand"""
        if is_reserved and (starts := view.notes.get("reserved at")):
            rows = view.notes["reserved row"]
            for job in view.queue:
                if job.rank in starts:
                    self._reserved.setdefault(int(rows[job.rank]), []).append((job, starts[job.rank]))
        self._rows: Sequence[int] | None = None
        """Rows of the matrix when they were all planned; None before that"""
        self._planned: PlannedRows
        self._all: list[int]

    def is_free(self, row: int, procs: int, span: float) -> bool:
        return self._plan(row).fits(procs, self._now, span)

    def take(self, row: int, procs: int, span: float) -> None:
        self._plan(row).take(self._now, self._now + span, procs)

    def book(self, job: Job, span: float) -> tuple[float, int]:
        """Return (time, row): the earliest time at which any row has enough processors free for the job during `span`
        seconds, and that row; of equal rows the earlier. Occupy the processors there, so that the caller has to place
        the job or reserve this start.

        If the time is now, the row with the fewest free columns is preferred, and a new row is the last choice.
        """
        rows = self._matrix.rows
        if rows != self._rows:
            self._plan_all(rows)
        at, found = self._planned.book(job.procs, span)
        return at, self._all[found]

    def is_new(self, row: int) -> bool:
        return row not in self._matrix.rows

    def _plan_all(self, rows: Sequence[int]) -> None:
        """Plan all rows, and one new row if the limit of rows allows it."""
        matrix = self._matrix
        planned = self._planned = PlannedRows(self._now)
        self._rows, self._all = rows, [*rows]
        for row in rows:
            plan = self._plan(row)
            planned.add(plan, matrix.free(row), plan.free == sorted(plan.free))
        if len(rows) < self._mpl:
            self._all.append(matrix.next_row)
            planned.add(self._plan(matrix.next_row), matrix.size, not self._view.machine_ahead, is_new=True)

    def _plan(self, row: int) -> Profile:
        if row not in self._plans:
            self._plans[row] = self._made(row)
        return self._plans[row]

    def _made(self, row: int) -> Profile:
        if self._homes is None:
            self._homes = self._matrix.homes()
        now, mpl, left = self._now, self._mpl, self._view.remaining_estimates(self._homes.get(row, ()))
        changes = [(now + span_in_row(rest, mpl), rank, procs) for rest, rank, procs in left]
        free = self._matrix.size - sum([procs for _, _, procs in changes])
        if ahead := self._view.machine_ahead:
            closes = self._view.closes
            changes = [*((min(end, closes), rank, procs) for end, rank, procs in changes), *ahead]
        reserved = self._reserved.get(row, ())
        for job, at in reserved:
            start = max(at, now)
            changes += (start, job.rank, -job.procs), (start + span_in_row(job.estimate, mpl), job.rank, job.procs)
        changes.sort()
        return Profile.of_changes(now, free, changes) if ahead or reserved else Profile.of_running(now, free, changes)
