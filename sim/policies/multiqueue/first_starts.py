"""Planned starts of the first jobs of several queues."""

from __future__ import annotations

from math import inf

from sim.machine.moment import MOMENT
from sim.machine.profile import Profile


class FirstStarts:
    """Plan that contains the first job of each queue, and the planned starts of these jobs."""

    def __init__(self) -> None:
        self.plan = Profile(0, 0)
        self._in_turn: list[int] = []
        """Queues with a job, in the order in which their first jobs are planned"""
        self._procs: dict[int, int] = {}
        self._lasts: dict[int, float] = {}
        self.at: dict[int, float] = {}
        """For each queue: planned start of its first job"""
        self.is_made = self.is_whole = False
        """Two flags: `is_made` is True if the starts are planned, `is_whole` if the plan contains all jobs, also the
        last added one (see `complete`)
        """
        self._short_at, self._short_of = inf, 0
        """Result of the last refusal by `leaves_room`: time from which the plan has too few free processors
        (`_short_at`), and number of free ones then (`_short_of`). Jobs wider than this number must end before this time
        """

    def forget(self) -> None:
        self._in_turn.clear()
        self.is_made = False

    def add(self, queue: int, procs: int, lasts: float) -> None:
        """Add the first job of the queue, to be planned after all jobs that were added before."""
        self._in_turn.append(queue)
        self._procs[queue], self._lasts[queue] = procs, lasts

    def make(self, beside: Profile, now: float) -> None:
        """Plan each job at its earliest start, in the order in which they were added, on the processors that the plan
        `beside` and the jobs before it leave free.
        """
        self.plan.become(beside)
        for turn, queue in enumerate(self._in_turn):
            if turn:
                self._enter(self._in_turn[turn - 1])
            self.at[queue] = self.plan.earliest(self._procs[queue], self._lasts[queue], now)
        self.is_made, self.is_whole, self._short_at = True, not self._in_turn, inf

    def complete(self) -> None:
        """Enter the last added job into the plan; `make` leaves it out."""
        if not self.is_whole:
            self._enter(self._in_turn[-1])
            self.is_whole = True

    def _enter(self, queue: int) -> None:
        self.plan.take(self.at[queue], self.at[queue] + self._lasts[queue], self._procs[queue])

    def leaves_room(self, procs: int, end: float) -> bool:
        """Return True if `procs` processors can be used from now until `end` without delaying anything in the plan."""
        if procs > self._short_of and end - MOMENT > self._short_at:
            return False
        self.complete()
        plan = self.plan
        short = plan.shortage_of(procs, end)
        if short >= 0:
            self._short_at, self._short_of = plan.at[short] if short else -inf, plan.free[short]
        return short < 0

    def leaves_room_instead(self, procs: int, now: float, at: float, lasts: float) -> bool:
        """Return True if a job can give up its reservation at `at` and run now for `lasts` seconds."""
        plan = self.plan
        self.complete()
        if lasts > at - now:  # from then on there is room
            lasts = at - now
        return procs <= plan.free[0] and plan.fits(procs, now, lasts)
