"""Comparison of points in time, and of durations, with a tolerance for rounding errors."""

from __future__ import annotations

from math import floor

MOMENT = 1e-6
"""Tolerance in seconds: two points in time less than a microsecond apart count as equal, and less work than that counts
as none, because sums of fractions of seconds are not more exact. Whole seconds are unaffected.
"""
APART = 4 * MOMENT
"""Distance in seconds from which two points in time differ even if each is moved by the tolerance."""
_PER_SECOND = 1e6
_COARSE = 1e9
"""Durations from this many seconds on are not rounded, because a double has too few digits for microseconds."""


def whole(seconds: float) -> float:
    """Return a duration in seconds that was added up from pieces, rounded to a whole number of microseconds.

    Keys that contain such a length are compared after this rounding, so that equal jobs stay equal.

    >>> whole(29.999999999999996)
    30.0
    """
    return floor(seconds * _PER_SECOND + 0.5) / _PER_SECOND if seconds < _COARSE else seconds
