"""Results of searches for starts in a plan (trials), kept as lower bounds for the starts of later jobs."""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import INFINITE, numbers, times


@cython.cclass
class Trials:
    """Results of searches for earlier starts (trials), made for one job after another. A later job that is at least as
    wide and as long cannot start before the start that a search found.

    This holds until more processors become free; processors freed by jobs that move to an earlier start are taken into
    account.

    >>> trials = Trials(2)
    >>> trials.note(2, 5.0, 30.0, 10.0)
    >>> trials.bound(3, 5.0, 40.0), trials.bound(1, 9.0, 40.0), trials.bound(3, 25.0, 40.0)
    (10.0, -inf, 5.0)
    """

    def __init__(self, most: int) -> None:
        self.procs, self.lasts, self.stood, self.stands = numbers(most), times(most), times(most), times(most)
        self.moves, self.count = numbers(most), 0
        """For each trial, the number of reservations that had moved before it; and the number of trials"""
        self.left, self.moved = times(most), 0
        """For each reservation that moved: the earliest old start among this reservation and all that moved later; and
        the number of reservations that moved
        """

    def forget(self) -> None:
        """Remove all trials, because more processors have become free, and the bounds no longer hold."""
        self.count = self.moved = 0

    def bound(self, procs: int, lasts: float, start: float) -> float:
        """Return a lower bound for the start of a job on `procs` processors for `lasts` seconds that is now planned at
        `start`; minus infinity if no trial gives a bound.
        """
        index = self.count - 1
        while index >= 0:
            if self.procs[index] <= procs and self.lasts[index] <= lasts and self.stood[index] <= start:
                bound, moves = self.stands[index], self.moves[index]
                if moves < self.moved and self.left[moves] - lasts < bound:
                    bound = self.left[moves] - lasts
                return bound
            index -= 1
        return -INFINITE

    def note(self, procs: int, lasts: float, start: float, at: float) -> None:
        """Record that a job on `procs` processors for `lasts` seconds, planned at `start`, can start at `at` at the
        earliest. The job moves there if `at` is before `start`.

        Earlier trials that this one makes redundant are removed.
        """
        count, moves = self.count, self.moved
        while (
            count and self.procs[count - 1] >= procs and self.lasts[count - 1] >= lasts and self.stands[count - 1] <= at
        ):
            count -= 1
        self.procs[count] = procs
        self.lasts[count] = lasts
        self.stood[count] = start
        self.stands[count] = at
        self.moves[count] = moves
        self.count = count + 1
        if at < start:
            index = moves - 1
            while index >= 0 and self.left[index] > start:
                self.left[index] = start
                index -= 1
            self.left[moves] = start
            self.moved = moves + 1
