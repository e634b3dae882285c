"""Equality of moments, and of lengths of time."""

from __future__ import annotations

from math import floor

MOMENT = 1e-6
"""Moments less than a microsecond apart count as one, and so little work as none, because sums of fractions of seconds
are not more exact. Whole seconds are unaffected.
"""
APART = 4 * MOMENT
"""Distance at which neither two moments, nor moments equal to them, count as one."""
_PER_SECOND = 1e6
_COARSE = 1e9
"""Lengths of time in seconds from which a double is too coarse to be rounded to a moment."""


def whole(seconds: float) -> float:
    """Return a length of time that was added up from pieces, rounded to a whole number of moments.

    Keys that contain such a length are compared after this rounding, so that equal jobs stay equal.

    >>> whole(29.999999999999996)
    30.0
    """
    return floor(seconds * _PER_SECOND + 0.5) / _PER_SECOND if seconds < _COARSE else seconds
