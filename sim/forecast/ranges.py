"""Ranges around forecast starts, from how far earlier forecasts of the same kind were off."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container
from math import inf
from typing import NamedTuple

SHARE = 0.8
"""Share of the actual starts that should lie inside their ranges."""
KEPT = 2000
"""Number of latest errors from which ranges are computed."""
ENOUGH = 20
"""Fewest errors from which a range is computed."""
GRAIN = 60.0
"""Seconds added to how far ahead a forecast was, by which its error is divided, so that the errors of near and far
forecasts compare.
"""
STEP, LEAST, MOST = 0.02, 0.02, 0.4
"""Change of the share of errors that are left out of a range, after each start inside or outside its range; smallest
and largest such share.
"""


class Range(NamedTuple):
    """Range of a forecast: earliest and latest start, in seconds since 1970."""

    low: float
    high: float


class Ranges:
    """Ranges around forecasts of starts, from the errors of earlier forecasts, each divided by how far ahead it was.

    Early ranges are too narrow, as at first only jobs that start soon have an error. So each start outside its range
    widens the next ones (adaptive conformal inference; Gibbs and Candès, 2021).
    """

    def __init__(self) -> None:
        self._errors: deque[float] = deque(maxlen=KEPT)
        self._open: dict[str, list[tuple[float, float, Range | None]]] = defaultdict(list)
        """Forecasts of each job that still waits, by job id: time when it was made, forecast start, and range."""
        self._out = 1 - SHARE
        """Share of the errors that are left out of a range."""
        self._sorted: tuple[float, list[float]] = -inf, []
        """Time of the latest forecast, and the errors known then in ascending order"""

    def around(self, job: str, at: float, said: float) -> Range | None:
        """Record that the start `said` was forecast for a job at the time `at`. Return the range around it; None if too
        few errors are known.

        >>> ranges = Ranges()
        >>> for job in range(21):
        ...     assert ranges.around(str(job), 0, 140) is None
        ...     ranges.start(str(job), 40 + 10 * job)
        >>> ranges.around("21", 1000, 1140)
        Range(low=1060.0, high=1220.0)
        """
        if self._sorted[0] != at:
            self._sorted = at, sorted(self._errors)
        errors, size, found = self._sorted[1], max(said - at, 0.0) + GRAIN, None
        if len(errors) >= ENOUGH:
            out = int(self._out / 2 * len(errors))
            found = Range(max(said + errors[out] * size, at), max(said + errors[-1 - out] * size, at))
        self._open[job].append((at, said, found))
        return found

    def start(self, job: str, came: float) -> None:
        """Record that the job started at `came`, so that the errors of its forecasts are known."""
        for at, said, found in self._open.pop(job, ()):
            if at > came:
                continue
            self._errors.append((came - said) / (max(said - at, 0.0) + GRAIN))
            if found is not None:
                is_outside = not found.low <= came <= found.high
                self._out = min(max(self._out + STEP * (1 - SHARE - is_outside), LEAST), MOST)

    def forget(self, waiting: Container[str]) -> None:
        """Remove the forecasts of jobs that no longer wait, although they did not start."""
        for job in [job for job in self._open if job not in waiting]:
            del self._open[job]
