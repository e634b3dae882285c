"""Plans of the matrix rows, in which backfilling gang scheduling makes reservations (Zhang et al. 2000, section 5.2).

A row is planned as a separate machine that may be `mpl` times slower. In the plan a job occupies its processors from
now on for its span: its remaining estimate times `mpl`. This holds even if the job is replicated in other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sim.machine.profile import Profile
from sim.policies.gang.planned_rows import PlannedRows, span_in_row
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


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
