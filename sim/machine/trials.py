"""Results of placing jobs on a plan, as lower bounds for later jobs, over columns."""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import INFINITE, numbers, times


@cython.cclass
class Trials:
    """Jobs that were placed one after another; they bound the start of a wider and longer job that was placed later.

    The bound holds until more processors become free; processors that moved jobs leave are taken into account.

    >>> trials = Trials(2)
    >>> trials.note(2, 5.0, 30.0, 10.0)
    >>> trials.bound(3, 5.0, 40.0), trials.bound(1, 9.0, 40.0), trials.bound(3, 25.0, 40.0)
    (10.0, -inf, 5.0)
    """

    def __init__(self, most: int) -> None:
        self.procs, self.lasts, self.stood, self.stands = numbers(most), times(most), times(most), times(most)
        self.moves, self.count = numbers(most), 0
        """Width and length of each job, its start before and after its trial, and the number of moves before the trial
        """
        self.left, self.moved = times(most), 0
        """Earliest place that a job left, from each move on"""

    def forget(self) -> None:
        """Drop all trials, because more processors are free now."""
        self.count = self.moved = 0

    def bound(self, procs: int, lasts: float, start: float) -> float:
        """Return a time before which a job that is now placed at `start` has no other place."""
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
        """Record that the job has moved from `start` to its first possible start `at`; drop redundant trials."""
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
