"""Round numbers for the axes of plots (1, 2 and 5 times powers of ten), and units in which numbers stay short."""

from __future__ import annotations

from math import ceil, floor, log10

_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


def log_ticks(low: float, high: float, most: int = 10) -> list[float]:
    """Return numbers 1, 2 or 5 times powers of ten around a range above 0; fewer if there would be more than `most`.

    >>> log_ticks(55, 3747.7)
    [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]
    >>> log_ticks(1, 1e9)
    [1.0, 100.0, 10000.0, 1000000.0, 100000000.0]
    """
    first, last = floor(log10(low)), ceil(log10(high))
    fine = [float(f"{step}e{power}") for power in range(first, last + 1) for step in (1, 2, 5)]
    begin = max((at for at, tick in enumerate(fine) if tick <= low * (1 + 1e-9)), default=0)
    end = min((at for at, tick in enumerate(fine) if tick >= high * (1 - 1e-9)), default=len(fine) - 1)
    if end + 1 - begin <= most:
        return fine[begin : end + 1]
    return [float(f"1e{power}") for power in range(first, last + 1, max(1, ceil((last - first + 1) / most * 1.9)))]


def linear_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return equally spaced round numbers within a range; their distance is 1, 2 or 5 times a power of ten.

    >>> linear_ticks(0, 3747.7)
    [0.0, 1000.0, 2000.0, 3000.0]
    >>> linear_ticks(0.6, 1.2)
    [0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
    """
    if not high > low:
        return [low]
    power = floor(log10((high - low) / most))
    steps = (float(f"{step}e{power + more}") for more in (0, 1, 2) for step in (1, 2, 5))
    step = next(step for step in steps if floor(high / step + 1e-9) - ceil(low / step - 1e-9) < most)
    places = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [float(f"{place * step:.12g}") for place in places]


def tick_label(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.12f}".rstrip("0")


def time_unit(largest: float) -> tuple[float, str]:
    return next(unit for unit in reversed(_UNITS) if largest >= 4 * unit[0] or unit[0] == 1.0)
