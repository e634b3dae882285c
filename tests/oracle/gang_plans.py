"""Frozen copy of an earlier definition.

Plans of the matrix rows, in which backfilling gang scheduling makes reservations (Zhang et al. 2000, section 5.2).

A row is planned as a separate machine that may be `mpl` times slower. In the plan a job occupies its processors from
now on for its span: its remaining estimate times `mpl`. This holds even if the job is replicated in other rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import inf

from sim.machine.moment import MOMENT
from sim.machine.profile import Profile
from sim.machine.trials import Trials
from sim.workload.model import Job
from tests.oracle.gang_rebuilding import GangView


class RowPlans:
    """Plan of each row, made on first use from the jobs whose home is the row and from its reservations; `take` enters
    later decisions.

    `reserved` are the reservations made before, as (job, row, start); a start in the past counts as now.
    """

    def __init__(self, view: GangView, mpl: int, reserved: Iterable[tuple[Job, int, float]] = ()) -> None:
        self._view, self._matrix, self._mpl, self._now = view, view.matrix, mpl, view.now
        self._ahead = view.machine_ahead
        self._plans: dict[int, Profile] = {}
        self._homes, self._trials = view.matrix.homes(), Trials(len(view.queue))
        self._reserved: dict[int, list[tuple[Job, float]]] = {}
        """For each row: reservations (job, start) that were made before this rebuild"""
        for job, row, at in reserved:
            self._reserved.setdefault(row, []).append((job, at))
        self._rows: Sequence[int] | None = None
        """Rows of the matrix when `_all_plans` was last called; None before the first call"""
        self._all: list[tuple[int, Profile]] = []

    def fits(self, row: int, procs: int, span: float) -> bool:
        """Return True if `procs` processors of the row are free from now on for `span` seconds."""
        return self._plan(row).fits(procs, self._now, span)

    def take(self, row: int, procs: int, span: float, at: float) -> None:
        """Occupy `procs` processors of the row's plan from the time `at` on for `span` seconds."""
        self._plan(row).take(at, at + span, procs)

    def soonest(self, procs: int, span: float) -> tuple[float, int]:
        """Return (time, row): the earliest time at which any row has `procs` processors free for `span` seconds, and
        that row. If several rows have this time, it is the earlier row.

        If the time is now, the row with the fewest free columns is preferred, and a new row is the last choice. The
        caller must then occupy the processors with `take`.
        """
        now, best, found, plans = self._now, inf, 0, self._all_plans()
        after = self._trials.bound(procs, span, inf)
        for row, plan in plans:
            at = hole_before(plan, best - MOMENT, procs, span, after)
            if at < best - MOMENT:
                best, found = at, row
                if at <= now:
                    return now, self._fullest(procs, span, row)
        self._trials.note(procs, span, best, best)
        return best, found

    def _fullest(self, procs: int, span: float, row: int) -> int:
        """Return the row with the fewest free columns of those where the job fits now, or `row` itself if that is a new
        row.
        """
        rows = (row for _, row in self._matrix.with_room(procs) if self.fits(row, procs, span))
        return next(rows, row)

    def _all_plans(self) -> list[tuple[int, Profile]]:
        """Return (row, plan) for all rows, and for one new row if the limit of rows allows it."""
        rows = self._matrix.rows
        if rows != self._rows:
            self._rows = rows
            self._all = [(row, self._plan(row)) for row in rows]
            if len(rows) < self._mpl:
                self._all.append((self._matrix.next_row, self._plan(self._matrix.next_row)))
            self._trials.forget()
        return self._all

    def _plan(self, row: int) -> Profile:
        if row not in self._plans:
            self._plans[row] = self._made(row)
        return self._plans[row]

    def _made(self, row: int) -> Profile:
        now, mpl, left = self._now, self._mpl, self._view.remaining_estimates(self._homes.get(row, ()))
        changes = [(now + rest * mpl, rank, procs) for rest, rank, procs in left]
        free = self._matrix.size - sum([procs for _, _, procs in changes])
        if ahead := self._ahead:
            closes = self._view.closes
            changes = [*((min(end, closes), rank, procs) for end, rank, procs in changes), *ahead]
        reserved = self._reserved.get(row, ())
        for job, at in reserved:
            start = max(at, now)
            changes += (start, job.rank, -job.procs), (start + job.estimate * mpl, job.rank, job.procs)
        changes.sort()
        return Profile.of_changes(now, free, changes) if ahead or reserved else Profile.of_running(now, free, changes)


def hole_before(plan: Profile, before: float, procs: int, duration: float, after: float) -> float:
    """Return the first time before `before` at which `procs` processors stay free for `duration` seconds; infinity
    if there is no such time.

    The caller guarantees that no such time is earlier than `after`.

    """
    times, free = plan.at, plan.free
    candidate = end = inf
    for index in range(bisect_left(times, after), len(times)):
        time = times[index]
        if end <= time + MOMENT:
            return candidate
        if free[index] < procs:
            if time >= before:
                return inf
            candidate = end = inf
        elif end == inf:
            if time >= before:
                return inf
            candidate, end = time, time + duration
    return candidate
