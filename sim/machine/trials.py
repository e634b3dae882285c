"""Trials: results of placing jobs on a plan, kept as lower bounds for the starts of later jobs."""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import INFINITE, numbers, times


@cython.cclass
class Trials:
    """Results of trials, in which jobs were placed one after another. A later job that is wider and longer cannot start
    earlier.

    The bound holds until more processors become free; processors that moved jobs leave are taken into account.

    >>> trials = Trials(2)
    >>> trials.note(2, 5.0, 30.0, 10.0)
    >>> trials.bound(3, 5.0, 40.0), trials.bound(1, 9.0, 40.0), trials.bound(3, 25.0, 40.0)
    (10.0, -inf, 5.0)
    """

    def __init__(self, most: int) -> None:
        self.procs, self.lasts, self.stood, self.stands = numbers(most), times(most), times(most), times(most)
        self.moves, self.count = numbers(most), 0
        """Number of trials, and for each of them the number of reservations that had moved before it"""
        self.left, self.moved = times(most), 0
        """Number of reservations that moved, and for each the earliest start that it or a later one gave up"""

    def forget(self) -> None:
        """Remove all trials, because more processors have become free than they assume."""
        self.count = self.moved = 0

    def bound(self, procs: int, lasts: float, start: float) -> float:
        """Return a time before which a job on `procs` processors for `lasts` seconds, now planned at `start`, has no
        place.
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
        """Record that a job moved from `start` to its first possible start `at`. Trials that this one makes redundant
        are removed.
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
