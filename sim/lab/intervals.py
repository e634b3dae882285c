"""Means with intervals by Student's t, and paired tests whether one mean is smaller than another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp, lgamma, log, sqrt
from statistics import fmean, stdev, variance
from typing import Any, NamedTuple

LEVEL = 0.95


class Mean(NamedTuple):
    """Mean, and half the length of its 95 % confidence interval; None if there are too few values for one."""

    value: float
    half: float | None = None


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of independent values, with its 95 % confidence interval.

    >>> mean([1.0, 2.0, 3.0])
    Mean(value=2.0, half=2.4841377117503263)
    """
    if len(values) < 2:
        return Mean(fmean(values))
    return Mean(fmean(values), student(0.5 + LEVEL / 2, len(values) - 1) * stdev(values) / sqrt(len(values)))


def mean_of_batches(values: Sequence[float], batches: Sequence[Sequence[float]]) -> Mean:
    """Return the mean over runs; with the means of `batches` (parts) of each run, the interval is from these."""
    if not batches or any(len(batch) < 2 for batch in batches) or len(batches) != len(values):
        return Mean(fmean(values))
    spread = sqrt(sum(variance(batch) / len(batch) for batch in batches)) / len(batches)
    return Mean(fmean(values), student(0.5 + LEVEL / 2, sum(len(batch) - 1 for batch in batches)) * spread)


def smaller(first: Mapping[Any, float], second: Mapping[Any, float], comparisons: int = 1) -> bool:
    """Return True if the mean of `first` is significantly smaller, by a paired t-test over common keys.

    The test is corrected for the number of comparisons. Equal differences have no spread to test: then False.
    """
    differences = [second[unit] - first[unit] for unit in first if unit in second]
    if len(differences) < 2 or not (spread := stdev(differences)):
        return False
    t = fmean(differences) / (spread / sqrt(len(differences)))
    return t > student(1 - (1 - LEVEL) / 2 / comparisons, len(differences) - 1)


@lru_cache(maxsize=1000)
def student(share: float, freedom: int) -> float:
    """Return the quantile of Student's t for the probability `share` >= 0.5 and `freedom` degrees of freedom.

    >>> round(student(0.975, 4), 4)
    2.7764
    """
    low, high = 0.0, 1.0
    while _below(high, freedom) < share:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < share else (low, middle)
    return high


def _below(t: float, freedom: int) -> float:
    return 1 - _beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function, by its continued fraction (Abramowitz & Stegun 26.5.8)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x) if x < 1 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    fraction = 1.0
    for m in range(200, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1 + odd / (1 + even / fraction)
    return front / fraction
