"""Choice of round times and round processor numbers for the labels of axes, as many as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil, floor
from typing import TypeVar

from sim.support.formatting import clock
from tui.look.calendar import Calendar

STEPS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000,
    864000, 1728000, 4320000, 8640000, 17280000, 43200000, 86400000, 172800000, 432000000,
    864000000, *(86400 * many * 10**power for power in range(4, 11) for many in (2, 5, 10)),
)  # fmt: skip
"""Usual distances in seconds between two labelled times."""
_DAY = 86400
Time = TypeVar("Time", int, float)


def times(
    begin: float, end: float, room: Callable[[str], float], calendar: Calendar | None = None
) -> list[tuple[float, str]]:
    """Return pairs (time, label) at round times between two times; a label has the day only if the day differs from
    that of the label before.

    `room(label)` is the smallest distance in seconds that a label needs. With a calendar, times are round in the local
    time of the trace.

    >>> times(80000, 100000, lambda name: 3000)
    [(82800, 'd0 23:00'), (86400, 'd1 00:00'), (90000, '01:00'), (93600, '02:00'), (97200, '03:00')]
    """
    shift = 0.0 if calendar is None else calendar.shift(begin)
    fitting = (step for step in STEPS if step >= room(moment(end // step * step, step, calendar=calendar)))
    step = next(fitting, STEPS[-1])
    round_ones = range(ceil((begin + shift) / step) * step, floor(end + shift) + 1, step)
    if calendar is None:
        return list(named(round_ones))
    return list(_labelled([time - shift for time in round_ones], step, calendar))


def as_they_are(moments: Sequence[float], calendar: Calendar | None = None) -> list[tuple[float, str]]:
    """Return pairs (time, label) for any times; labels have seconds only if a time is not a whole minute."""
    return list(_labelled(moments, 60 if all(not time % 60 for time in moments) else 1, calendar))


def processors(low: int, high: int, apart: float, clear: float = 0.0) -> list[int]:
    """Return the lowest and the highest processor, and the multiples of a round step between them.

    The step is at least `apart`. A multiple is left out if its distance from the lowest or the highest is at most
    `clear` steps.

    >>> processors(0, 99, 17), processors(0, 9, 2, clear=0.5), processors(0, 0, 1)
    ([0, 99, 20, 40, 60, 80], [0, 9, 2, 4, 6], [0])
    """
    step = next(number for number in round_numbers() if number >= apart)
    between = range(ceil(low / step) * step, high, step)
    return [*dict.fromkeys((low, high)), *(n for n in between if min(n - low, high - n) > clear * step)]


def moment(time: float, step: int, with_day: bool = True, calendar: Calendar | None = None) -> str:
    """Return a time as text, as exact as the distance `step` between labelled times requires.

    >>> moment(90000, 3600), moment(90000, 30, with_day=False), moment(90000, 86400)
    ('d1 01:00', '01:00:00', 'd1')
    """
    day, _, of_day = (clock(time) if calendar is None else calendar.moment(time)).rpartition(" ")
    if step >= _DAY:
        return day
    of_day = of_day if step < 60 else of_day[:5]
    return f"{day} {of_day}" if with_day else of_day


def unit_of(labels: Sequence[str]) -> str:
    """Return the unit of these labels of times, as text; "" if a narrow chart has no label.

    >>> unit_of(["d0 22:00", "23:00"]), unit_of(["d0 00:00:30"]), unit_of(["d12"]), unit_of([])
    ('h:min', 'h:min:s', 'days', '')
    """
    return ("days", "h:min", "h:min:s")[labels[-1].count(":")] if labels else ""


def named(moments: range) -> Iterator[tuple[int, str]]:
    """Yield pairs (time, label) for times at equal distances; a label has the day only if the day differs from that of
    the label before.

    >>> list(named(range(79200, 93601, 7200)))
    [(79200, 'd0 22:00'), (86400, 'd1 00:00'), (93600, '02:00')]
    """
    return _labelled(moments, moments.step)


def _labelled(moments: Iterable[Time], step: int, calendar: Calendar | None = None) -> Iterator[tuple[Time, str]]:
    """Yield pairs (time, label); labels are as exact as the distance `step` in seconds between the times requires."""
    said: object = None
    for time in moments:
        day = time // _DAY if calendar is None else calendar.moment(time).rpartition(" ")[0]
        yield time, moment(time, step, day != said, calendar)
        said = day


def round_numbers() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10
