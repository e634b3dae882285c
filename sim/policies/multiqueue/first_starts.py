"""Planned starts of the first jobs of several queues, stored in arrays of numbers; the file is also a part of the
compiled loop.
"""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import INFINITE, numbers, times
from sim.machine.moment import MOMENT
from sim.machine.steps import Steps


@cython.cclass
class FirstStarts:
    """Plan that contains the first job of each queue, and the planned starts of these jobs."""

    def __init__(self, queues: int, plan: Steps) -> None:
        """Make the object for `queues` queues. Its plan is stored in `plan`, whose content is overwritten."""
        self.plan = plan
        self.in_turn, self.count = numbers(queues), 0
        """Queues with a job, in the order in which their first jobs are planned, and the number of these queues"""
        self.procs, self.lasts, self.at = numbers(queues), times(queues), times(queues)
        """For each queue: processors, estimate and planned start of its first job"""
        self.is_made = self.is_whole = False
        """Two flags: `is_made` is True if the starts are planned, `is_whole` if the plan contains all jobs, also the
        last added one (see `complete`)
        """
        self.short_at, self.short_of = INFINITE, 0
        """Result of the last refusal by `leaves_room`: time from which the plan has too few free processors
        (`short_at`), and number of free ones then (`short_of`). Jobs wider than this number must end before this time
        """

    def forget(self) -> None:
        """Remove all jobs."""
        self.count, self.is_made = 0, False

    def add(self, queue: int, procs: int, lasts: float) -> None:
        """Add the first job of the queue, with its processors and its estimate `lasts`; it is planned after all jobs
        that were added before.
        """
        self.in_turn[self.count] = queue
        self.procs[queue], self.lasts[queue] = procs, lasts
        self.count += 1

    def make(self, beside: Steps, now: float) -> None:
        """Plan each job at its earliest start, in the order in which they were added, on the processors that the plan
        `beside` and the jobs before it leave free.
        """
        plan, turn = self.plan, 0
        plan.become(beside)
        for turn in range(self.count):
            if turn:
                self._enter(self.in_turn[turn - 1])
            queue = self.in_turn[turn]
            self.at[queue] = plan.earliest(self.procs[queue], self.lasts[queue], now)
        self.is_made, self.is_whole, self.short_at = True, self.count == 0, INFINITE

    def complete(self) -> None:
        """Enter the last added job into the plan, so that the plan contains all jobs; `make` leaves this job out."""
        if not self.is_whole:
            self._enter(self.in_turn[self.count - 1])
            self.is_whole = True

    def _enter(self, queue: int) -> None:
        self.plan.take(self.at[queue], self.at[queue] + self.lasts[queue], self.procs[queue])

    def leaves_room(self, procs: int, end: float) -> bool:
        """Return True if `procs` processors can be used from now until `end` without delaying anything in the plan."""
        if self.refuses(procs, end):
            return False
        self.complete()
        plan = self.plan
        short = plan.shortage_of(procs, end)
        if short >= 0:
            self.short_at, self.short_of = plan.at[short] if short else -INFINITE, plan.free[short]
        return short < 0

    def refuses(self, procs: int, end: float) -> bool:
        """Return True if an earlier call of `leaves_room` has shown that `procs` processors cannot be used from now
        until `end`.
        """
        return procs > self.short_of and end - MOMENT > self.short_at

    def leaves_room_instead(self, procs: int, now: float, at: float, lasts: float) -> bool:
        """Return True if a job whose reservation begins at `at` can give it up and run now instead, on `procs`
        processors for `lasts` seconds.
        """
        plan = self.plan
        self.complete()
        if lasts > at - now:  # from then on there is room
            lasts = at - now
        return procs <= plan.free[0] and plan.fits(procs, now, lasts)
