"""Results of searches for starts in a plan (trials), kept as lower bounds for the starts of later jobs."""

from __future__ import annotations

from math import inf


class Trials:
    """Results of searches for earlier starts (trials), made for one job after another. A later job that is at least as
    wide and as long cannot start before the start that a search found.

    This holds until more processors become free; processors freed by jobs that move to an earlier start are taken into
    account.

    >>> trials = Trials()
    >>> trials.note(2, 5.0, 30.0, 10.0)
    >>> trials.bound(3, 5.0, 40.0), trials.bound(1, 9.0, 40.0), trials.bound(3, 25.0, 40.0)
    (10.0, -inf, 5.0)
    """

    def __init__(self) -> None:
        self._made: list[tuple[int, float, float, float, int]] = []
        """(processors, seconds, planned start, start found, number of reservations that had moved before) of each"""
        self._left: list[float] = []
        """For each reservation that moved: the earliest old start among this reservation and all that moved later"""

    def bound(self, procs: int, lasts: float, start: float) -> float:
        """Return a lower bound for the start of a job on `procs` processors for `lasts` seconds that is now planned at
        `start`; minus infinity if no trial gives a bound.
        """
        for its_procs, its_lasts, stood, bound, moves in reversed(self._made):
            if its_procs <= procs and its_lasts <= lasts and stood <= start:
                return min(bound, self._left[moves] - lasts) if moves < len(self._left) else bound
        return -inf

    def note(self, procs: int, lasts: float, start: float, at: float) -> None:
        """Record that a job on `procs` processors for `lasts` seconds, planned at `start`, can start at `at` at the
        earliest. The job moves there if `at` is before `start`.

        Earlier trials that this one makes redundant are removed.
        """
        made, left = self._made, self._left
        while made:
            its_procs, its_lasts, _, bound, _ = made[-1]
            if its_procs < procs or its_lasts < lasts or bound > at:
                break
            made.pop()
        made.append((procs, lasts, start, at, len(left)))
        if at < start:
            index = len(left) - 1
            while index >= 0 and left[index] > start:
                left[index] = start
                index -= 1
            left.append(start)
