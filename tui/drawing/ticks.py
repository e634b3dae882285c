"""Which moments and which processors the axes name."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor

from sim.words import clock

_STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 17280000, 43200000,
    86400000, 172800000, 432000000, 864000000,
)  # fmt: skip
"""Seconds between two moments that are named."""
_DAY = 86400


def times(begin: float, end: float, most: int) -> list[tuple[float, str]]:
    """At most so many round moments with their names; the day is said where it is new.

    >>> times(80000, 100000, 6)
    [(82800, 'd0 23:00'), (86400, 'd1 00:00'), (90000, '01:00'), (93600, '02:00'), (97200, '03:00')]
    """
    step = next((step for step in _STEPS if (end - begin) / step <= most), _STEPS[-1])
    return list(_named(range(ceil(begin / step) * step, floor(end) + 1, step), step))


def _named(moments: range, step: int) -> Iterator[tuple[float, str]]:
    said = None
    for moment in moments:
        day, _, time = clock(moment).partition(" ")
        time = time if step < 60 else time[:5]
        name = day if step >= _DAY else time if day == said else f"{day} {time}"
        said = day
        yield moment, name


def processors(count: int, most: int) -> list[int]:
    """At most so many round numbers of processors, and the last.

    >>> processors(100, 6), processors(10, 6), processors(1, 6)
    ([0, 20, 40, 60, 80, 99], [0, 2, 4, 6, 9], [0])
    """
    step = next(step for step in _round_numbers() if (count - 1) // step + 1 <= max(most, 2))
    named = [number for number in range(0, count, step) if number + step / 2 < count - 1]
    return [*named, count - 1]


def _round_numbers() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
