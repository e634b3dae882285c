"""Axis of time: the position of each time across the chart, by the clock or by event.

Positions are numbers called *places*; a column of the chart is some places wide. By the clock, a place is a second. By
event, each step of the run has the next whole number, and so has each later time for which something is planned.
Between two of these, time runs evenly.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from math import ceil, floor, inf

import numpy as np
from numpy.typing import NDArray

from sim.history.past import Past

Floats = NDArray[np.float64]
_BEFORE = 600.0
"""Number of seconds that one place (unit of the axis) stands for, before the first step on an axis by event"""


class Axis:
    """Axis of time by the clock, on which one second is one place (unit of the axis)."""

    by_event = False
    kind: Hashable = None
    """Identity of the axis; two axes of the same kind have all past times at the same positions."""

    def place(self, time: float) -> float:
        return time

    def time(self, place: float) -> float:
        return place

    def places(self, times: Floats) -> Floats:
        return times

    def settled(self, clock: float) -> float:
        """Return the place up to which the axis is final at `clock`; those of later times may still change."""
        return clock

    @property
    def last(self) -> float:
        """Return the place of the last known time (a step or a planned time); infinite by the clock."""
        return inf

    def seconds(self, per_column: float) -> float:
        """Return the seconds of a column of `per_column` places; infinite by event, where columns differ."""
        return per_column

    def named(self, begin: float, end: float, apart: float) -> Sequence[float]:
        """Return the times to be labelled between two positions of the axis; none on one by the clock."""
        return ()


CLOCK = Axis()


class ByEvent(Axis):
    """Axis on which the steps of the run, and then the planned times (`ahead`), are at the positions 0, 1, 2...

    >>> axis = ByEvent("a run", np.array([0.0, 10, 3600]), [7200.0])
    >>> axis.place(10), axis.place(1805), axis.time(2.5), axis.places(np.array([5.0, 7200, 10800])).tolist()
    (1.0, 1.5, 5400.0, [0.5, 3.0, 4.0])
    """

    by_event = True

    def __init__(self, kind: Hashable, steps: Floats, ahead: Sequence[float]) -> None:
        self.kind, self._steps = kind, len(steps)
        self._moments = np.concatenate([steps, ahead])
        last = self._moments[-2:]
        self._beyond = max(float(last[-1] - last[0]), 1.0)
        """Seconds that one place (unit of the axis) stands for after the last planned time."""

    def place(self, time: float) -> float:
        moments, at = self._moments, bisect_right(self._moments, time) - 1
        if 0 <= at < len(moments) - 1:
            begin, end = moments[at : at + 2].tolist()
            return float(at + (time - begin) / (end - begin))
        return float(self.places(np.array([time]))[0])

    def time(self, place: float) -> float:
        last = len(self._moments) - 1
        if place < 0:
            return float(self._moments[0]) + place * _BEFORE
        if place >= last:
            return float(self._moments[-1]) + (place - last) * self._beyond
        whole = floor(place)
        begin, end = self._moments[whole : whole + 2].tolist()
        return float(begin + (place - whole) * (end - begin))

    def places(self, times: Floats) -> Floats:
        moments = self._moments
        inside = np.clip(times, moments[0], moments[-1])
        at = np.searchsorted(moments, inside, "right") - 1
        gap = moments[np.minimum(at + 1, len(moments) - 1)] - moments[at]
        found: Floats = at + (inside - moments[at]) / np.where(gap > 0, gap, 1)
        found += np.minimum(times - moments[0], 0) / _BEFORE + np.maximum(times - moments[-1], 0) / self._beyond
        return found

    def settled(self, clock: float) -> float:
        return self._steps - 1

    @property
    def last(self) -> float:
        return len(self._moments) - 1

    def seconds(self, per_column: float) -> float:
        return inf

    def named(self, begin: float, end: float, apart: float) -> Sequence[float]:
        each = max(ceil(apart), 1)
        places = range(ceil(max(begin, 0) / each) * each, ceil(min(end, len(self._moments))), each)
        return [float(self._moments[place]) for place in places]


class Steps:
    """Times of the steps of one run, or of several together; later steps are added on request."""

    def __init__(self, kind: Hashable = None) -> None:
        self.kind = kind or object()
        self._read: tuple[int, ...] = ()
        self._moments: Floats = np.empty(0)

    def of(self, history: Past, time: float) -> Floats:
        """Return the times of the steps of a run up to `time`; the run must be computed up to there."""
        known = sum(self._read)
        if history.steps > known:
            self._add(np.array(history.times(known)))
            self._read = (history.steps,)
        return self.known(time)

    def together(self, runs: Sequence[Floats], time: float) -> Floats:
        """Return the steps of several runs in order, up to `time`, up to which all must be computed."""
        read = self._read or (0,) * len(runs)
        if any(len(moments) > known for moments, known in zip(runs, read, strict=True)):
            self._add(np.concatenate([moments[known:] for moments, known in zip(runs, read, strict=True)]))
            self._read = tuple(max(len(moments), known) for moments, known in zip(runs, read, strict=True))
        return self.known(time)

    def _add(self, new: Floats) -> None:
        """Append times that are not earlier than the last known time; equal times are stored once."""
        self._moments = np.concatenate([self._moments, np.setdiff1d(new, self._moments[-1:])])

    def known(self, time: float) -> Floats:
        return self._moments[: np.searchsorted(self._moments, time, "right")]
