"""Kettimuthu's job categories: sixteen by run time and processors (table 2.1), and four coarse ones (table 4.1)."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sim.workload.model import Floats, Ints


class Category(NamedTuple):
    """Category of jobs: Kettimuthu's abbreviation, and its range of run times or processors as text."""

    label: str
    meaning: str


LENGTHS = (Category("VS", "0-10 min"), Category("S", "10 min-1 h"), Category("L", "1-8 h"), Category("VL", "> 8 h"))
WIDTHS = (Category("Seq", "1 processor"), Category("N", "2-8"), Category("W", "9-32"), Category("VW", "> 32"))
LENGTH_LIMITS = (600.0, 3600.0, 28800.0)
WIDTH_LIMITS = (1, 8, 32)
"""Largest width of each category except the last, which is unbounded; exactly this width belongs to it."""

TAU = 10.0
"""Bound of the bounded slowdown, in seconds: a job with a shorter run time counts as a job of this run time."""

CATEGORIES = tuple(
    Category(f"{length.label} {width.label}", f"{length.meaning}, {width.meaning}")
    for length in LENGTHS
    for width in WIDTHS
)
COARSE = (
    Category("SN", "<= 1 h, <= 8 processors"),
    Category("SW", "<= 1 h, > 8 processors"),
    Category("LN", "> 1 h, <= 8 processors"),
    Category("LW", "> 1 h, > 8 processors"),
)


def category(length: Floats, width: Ints) -> Ints:
    """Return the index in CATEGORIES of each job, from its run time (or estimate) in seconds and its processors.

    >>> [CATEGORIES[i].label for i in category(np.array([600.0, 601.0, 30000.0]), np.array([1, 8, 33]))]
    ['VS Seq', 'S N', 'VL VW']
    """
    rows = np.searchsorted(LENGTH_LIMITS, length, side="left")
    columns = np.searchsorted(WIDTH_LIMITS, width, side="left")
    return (rows * len(WIDTHS) + columns).astype(np.int64)


@lru_cache(maxsize=4096)
def category_of(length: float, width: int) -> int:
    """Return the index in CATEGORIES of a job with a run time of `length` seconds on `width` processors."""
    return bisect_left(LENGTH_LIMITS, length) * len(WIDTHS) + bisect_left(WIDTH_LIMITS, width)


def coarse_category(length: Floats, width: Ints) -> Ints:
    """Return the index in COARSE of each job's category, from its run time (or estimate) in seconds and processors."""
    return 2 * (length > LENGTH_LIMITS[1]).astype(np.int64) + (width > WIDTH_LIMITS[1])
