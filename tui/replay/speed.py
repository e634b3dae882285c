"""The clock of a replay: how fast it goes, and where it stands after some seconds of playing."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from sim.words import span


@dataclass(frozen=True, slots=True)
class Speed:
    """So many events a second, or so many simulated seconds a second; infinite: as fast as possible."""

    events: float = 0
    seconds: float = 0

    @property
    def label(self) -> str:
        """How a screen says it.

        >>> [speed.label for speed in (Speed(events=1), Speed(events=4), Speed(seconds=3600), Speed(seconds=inf))]
        ['1 event/s', '4 events/s', '1h/s', 'top speed']
        """
        if self.events:
            return f"{self.events:g} event{'s' if self.events != 1 else ''}/s"
        if self.seconds == inf:
            return "top speed"
        return f"{_short(self.seconds)}/s"

    def pace(self, per_column: float) -> float:
        """After how many seconds now is in another column of the chart, or something has happened.

        >>> [speed.pace(450) for speed in (Speed(events=4), Speed(seconds=3600), Speed(seconds=inf))]
        [0.25, 0.125, 0.0]
        """
        return 1 / self.events if self.events else per_column / self.seconds


def _short(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size and not seconds % size:
            return f"{seconds / size:g}{unit}"
    return span(seconds)


SPEEDS = (
    *(Speed(events=events) for events in (1, 4, 16)),
    *(Speed(seconds=s) for s in (10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 4 * 86400, 14 * 86400)),
    Speed(seconds=inf),
)


def first_speed(lasts: float) -> int:
    """The index of the speed at which that much simulated time is watched in a minute, but not faster than 1h/s.

    >>> SPEEDS[first_speed(2400)].label, SPEEDS[first_speed(3e7)].label
    ('1m/s', '1h/s')
    """
    timed = [(index, speed) for index, speed in enumerate(SPEEDS) if 0 < speed.seconds <= 3600]
    return next((index for index, speed in timed if speed.seconds * 60 >= lasts), timed[-1][0])
