"""When two moments are one."""

MOMENT = 1e-6
"""Moments less than a microsecond apart are one, and so much work is none: sums of fractions of seconds are no more
exact than that. Whole seconds are never touched by it."""
APART = 4 * MOMENT
"""So far apart are two moments of which none is taken for the other, nor is one that is taken for one of them."""
