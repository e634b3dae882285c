"""Comparison of points in time, and of durations, with a tolerance for rounding errors."""

from __future__ import annotations

from typing import Final

MOMENT: Final = 1e-6
"""Tolerance in seconds for rounding errors in sums. Points in time less than a microsecond apart count as equal, and
less than a microsecond of remaining work counts as none. Whole seconds are unaffected.
"""
APART: Final = 4 * MOMENT
"""Distance in seconds from which two points in time certainly differ, even if rounding has moved each of them by the
tolerance.
"""
_PER_SECOND: Final = 1e6
_COARSE: Final = 1e9
"""Duration in seconds from which `whole` rounds no more, because a double has too few digits for microseconds"""


def whole(seconds: float) -> float:
    """Return a duration in seconds, a sum of several parts, rounded to whole microseconds.

    Sort keys that contain such a sum are compared after this rounding, so that rounding errors do not decide between
    equal jobs.

    >>> whole(29.999999999999996)
    30.0
    """
    return (seconds * _PER_SECOND + 0.5) // 1.0 / _PER_SECOND if seconds < _COARSE else seconds


def ratio(seconds: float, to: float) -> float:
    """Return the ratio of two durations, both rounded to whole microseconds, so that equal ratios are equal numbers.

    >>> ratio(0.1 + 0.2, 0.1) == ratio(0.6, 0.2)
    True
    """
    return (seconds * _PER_SECOND + 0.5) // 1.0 / ((to * _PER_SECOND + 0.5) // 1.0 or 1.0)


def is_by(time: float, limit: float) -> bool:
    """Return True if the time is at most `limit`, or later only by a rounding error; so for durations.

    >>> 2.6 + 0.2 <= 2.8, is_by(2.6 + 0.2, 2.8)
    (False, True)
    """
    return time <= limit + MOMENT
