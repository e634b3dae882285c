"""The plan of each row: what backfilling gang scheduling reserves on (Z section 5.2).

A row is a machine of its own that is `mpl` times slower at worst, so a job's span in it is its remaining estimate times
mpl, from now on, wherever else it is replicated.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from sim.machine.profile import Profile
from sim.policies.gang.phases import GangView
from sim.workload.model import Job


class RowPlans:
    """One profile a row, made when it is first asked for: the row's home jobs, and what is taken in it since.

    `reserved` is taken from the beginning: (job, row, at); a start that is past counts as now.
    """

    def __init__(self, view: GangView, mpl: int, reserved: Iterable[tuple[Job, int, float]] = ()) -> None:
        self._view, self._matrix, self._mpl = view, view.matrix, mpl
        self._plans: dict[int, Profile] = {}
        self._reserved = list(reserved)

    def fits(self, row: int, procs: int, span: float) -> bool:
        """Are so many processors free in the row from now on for the span?"""
        return self._plan(row).fits(procs, self._view.now, span)

    def take(self, row: int, procs: int, span: float, at: float) -> None:
        """So many processors of the row are held from `at` on for the span."""
        self._plan(row).take(at, at + span, procs)

    def earliest(self, procs: int, span: float) -> tuple[float, int]:
        """When and in which row so many processors are first free for the span; of equals the earlier row."""
        best, found = inf, 0
        rows = self._matrix.rows
        for row in (*rows, self._matrix.next_row) if len(rows) < self._mpl else rows:
            at = self._plan(row).hole_before(best, procs, span)
            if at < best:
                best, found = at, row
        return best, found

    def _plan(self, row: int) -> Profile:
        if row not in self._plans:
            self._plans[row] = self._made(row)
        return self._plans[row]

    def _made(self, row: int) -> Profile:
        view, mpl, matrix = self._view, self._mpl, self._matrix
        now, remaining, job_of = view.now, view.remaining_estimate, view.job
        at_home = matrix.at_home(row) if row in matrix.rows else ()
        jobs = [(now + remaining(rank) * mpl, rank, job_of(rank).procs) for rank in at_home]
        jobs, free = sorted(jobs), view.procs - sum(procs for _, _, procs in jobs)
        ahead = view.machine_ahead
        if ahead:
            jobs = sorted([*((min(end, view.closes), rank, procs) for end, rank, procs in jobs), *ahead])
        plan = Profile.of_changes(now, free, jobs) if ahead else Profile.of_running(now, free, jobs)
        for job, where, at in self._reserved:
            if where == row:
                start = max(at, now)
                plan.take(start, start + job.estimate * mpl, job.procs)
        return plan
