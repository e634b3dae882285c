"""Ranges around forecast starts, computed from the errors of earlier forecasts of the same kind."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Container
from dataclasses import dataclass
from itertools import chain
from math import inf, sqrt
from typing import NamedTuple

SHARE = 0.8
"""Share of actual starts that the ranges are meant to contain."""
KEPT = 2000
"""Number of errors from which ranges are computed; the latest ones are kept."""
ENOUGH = 20
"""Smallest number of errors from which a range is computed."""
GRAIN = 60.0
"""Seconds that are added to the time from a forecast to the forecast start. Errors are divided by the square root of
this sum, so that those of near and far starts can be compared: the more jobs end before a start, the more of their
errors cancel out.
"""
ALIKE = 4
"""Number of jobs that count as one when ranges are computed, because jobs that wait at the same time are late together.
"""
STEP, LEAST, MOST = 0.1, 0.02, 0.4
"""Share of errors that ranges leave out: its change by one job, its smallest and its largest value."""


class Range(NamedTuple):
    """Range of a forecast: earliest and latest start, in seconds since 1970."""

    low: float
    high: float


@dataclass(slots=True)
class _SaidRange:
    """Forecast of a job that still waits."""

    at: float
    span: Range
    size: float
    """Square root of the seconds that the start was forecast ahead, plus `GRAIN`."""
    range: Range | None
    is_missed: bool = False
    """True once the time is past the range, so that the start is known to be outside."""


class Ranges:
    """Ranges around forecasts of starts, computed from the span between an early and a late forecast and from the
    errors of earlier spans. A range contains its forecast.

    The span is the model's own measure of how certain a start is. It is widened or narrowed by the distances from
    earlier spans to the actual starts, divided by the root of how far ahead each forecast was (conformalized quantile
    regression; Romano, Patterson and Candès, 2019). Jobs that start soon are the first whose errors are known. To
    correct for this, each start outside its range widens the next ranges (adaptive conformal inference; Gibbs and
    Candès, 2021). A job that still waits when its range is over counts as outside at once, because its start may be
    long in coming.

    The errors of one job's forecasts are alike. So ranges are as wide as the number of jobs demands, not the number of
    errors: the fewer jobs have started, the wider. And all forecasts of a job together change the next ranges as much
    as one forecast of another job does.
    """

    def __init__(self) -> None:
        self._errors: deque[tuple[float, float, int]] = deque(maxlen=KEPT)
        """For each forecast of a job that started: (before, after, number of the job), how many seconds the start was
        before the lower end of the span, and how many after the upper end. Both are divided by the `size` of the
        forecast; a number is negative if the start was on the inner side of that end. Jobs are numbered in the order of
        their starts.
        """
        self._sorted: tuple[list[float], list[float]] = [], []
        """The first and the second numbers of `_errors`, each in ascending order"""
        self._open: dict[str, list[_SaidRange]] = defaultdict(list)
        """For each job that still waits (by id): its forecasts."""
        self._out = 1 - SHARE
        """Share of the errors that ranges leave out, half of it on each side. It changes a little at each start."""
        self._wider: tuple[float, tuple[float, float] | None] = -inf, None
        """Time of the latest forecast; and (before, after), by how much ranges were then wider than spans, in the unit
        of `_errors`. The pair is None if there are too few errors.
        """

    def around(self, job: str, at: float, said: float, span: Range | None = None) -> Range | None:
        """Record a forecast made at the time `at`: the job will start at `said`, and within `span` by the model's own
        measure (None: exactly at `said`). Return the range around this forecast; None if fewer than `ENOUGH` errors are
        known.

        >>> ranges = Ranges()
        >>> for job in range(21):
        ...     assert ranges.around(str(job), 0, 140, Range(120, 160)) is None
        ...     ranges.start(str(job), 40 + 10 * job)
        >>> ranges.around("21", 1000, 1140), ranges.around("22", 1000, 1140, Range(1100, 1160))
        (Range(low=1060.0, high=1220.0), Range(low=1020.0, high=1240.0))
        """
        if self._wider[0] != at:
            self._wider = at, self._misses(at)
        size, own, found = sqrt(max(said - at, 0.0) + GRAIN), span or Range(said, said), None
        if (wider := self._wider[1]) is not None:
            # both ends may be far inside a narrow span, or on one side of the forecast
            ends = own.low - wider[0] * size, said, own.high + wider[1] * size
            found = Range(max(min(ends), at), max(*ends, at))
        self._open[job].append(_SaidRange(at, own, size, found))
        return found

    def _misses(self, at: float) -> tuple[float, float] | None:
        """Return (before, after), by how much a span must be widened on each side to contain the wanted share of
        earlier starts, in the unit of `_errors`. Return None if there are too few errors.

        Jobs that still wait at the time `at` although their range is over count as if they started now.
        """
        late = [[said for said in each if said.range and said.range.high < at] for each in self._open.values()]
        for each, passed in zip(self._open.values(), late, strict=True):
            for said in passed:
                self._judge(said, _ranges_in(each), is_outside=True)
        if len(self._errors) < ENOUGH:
            return None
        waiting = [_errors(said, at) for said in chain(*late)]
        count, jobs = len(self._errors) + len(waiting), self._errors[-1][2] - self._errors[0][2] + 1
        jobs += sum(map(bool, late))
        place = min(int((1 - self._out / 2) * (1 + ALIKE / jobs) * count), count - 1)
        before, after = ([*errors, *(pair[side] for pair in waiting)] for side, errors in enumerate(self._sorted))
        return sorted(before)[place], sorted(after)[place]

    def _judge(self, said: _SaidRange, among: int, is_outside: bool) -> None:
        """Make the next ranges wider if the start was outside its range, otherwise narrower; the less, the more ranges
        (`among`) the job has. Do nothing if the forecast is known to be missed already.
        """
        if not said.is_missed:
            self._out = min(max(self._out + STEP / among * (1 - SHARE - is_outside), LEAST), MOST)
            said.is_missed = is_outside

    def start(self, job: str, came: float) -> None:
        """Record that the job started at `came`; from now on the errors of its forecasts count for new ranges."""
        number = self._errors[-1][2] + 1 if self._errors else 0
        made = self._open.pop(job, [])
        for said in made:
            if said.at > came:
                continue
            self._learn(_errors(said, came), number)
            if said.range is not None:
                self._judge(said, _ranges_in(made), not said.range.low <= came <= said.range.high)

    def _learn(self, pair: tuple[float, float], number: int) -> None:
        """Add a pair for the job with this number to `_errors`, in place of the oldest if there are `KEPT` of them."""
        oldest = self._errors[0] if len(self._errors) == KEPT else None
        self._errors.append((*pair, number))
        for side, errors in enumerate(self._sorted):
            if oldest is not None:
                del errors[bisect_left(errors, oldest[side])]
            insort(errors, pair[side])

    def forget(self, waiting: Container[str]) -> None:
        for job in [job for job in self._open if job not in waiting]:
            del self._open[job]


def _ranges_in(made: list[_SaidRange]) -> int:
    return sum(said.range is not None for said in made)


def _errors(said: _SaidRange, came: float) -> tuple[float, float]:
    """Return (before, after) for a start at `came`: the seconds outside each end of the span, divided by `size`."""
    return (said.span.low - came) / said.size, (came - said.span.high) / said.size
