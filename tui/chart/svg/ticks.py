"""Which moments and which processors the axes name."""

from __future__ import annotations

from math import ceil, floor

from tui.look.ticks import STEPS, named, round_numbers


def times(begin: float, end: float, most: int) -> list[tuple[int, str]]:
    """At most so many round moments with their names; the day is said where it is new.

    >>> times(80000, 100000, 6)
    [(82800, 'd0 23:00'), (86400, 'd1 00:00'), (90000, '01:00'), (93600, '02:00'), (97200, '03:00')]
    """
    step = next((step for step in STEPS if (end - begin) / step <= most), STEPS[-1])
    return list(named(range(ceil(begin / step) * step, floor(end) + 1, step)))


def processors(count: int, most: int) -> list[int]:
    """At most so many round numbers of processors, and the last.

    >>> processors(100, 6), processors(10, 6), processors(1, 6)
    ([0, 20, 40, 60, 80, 99], [0, 2, 4, 6, 9], [0])
    """
    step = next(step for step in round_numbers() if (count - 1) // step + 1 <= max(most, 2))
    chosen = [number for number in range(0, count, step) if number + step / 2 < count - 1]
    return [*chosen, count - 1]
