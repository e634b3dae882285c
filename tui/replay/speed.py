"""Speeds of a replay: by the clock, or from event to event."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from sim.support.formatting import span

PASSING = 0.25
"""Pause at a step without a decision, as a share of the pause at a step with decisions."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed: simulated seconds per second (infinite: as fast as possible), or a pause at each step."""

    moment: float = 0
    """Seconds of pause at a step with decisions, from event to event; 0 by the clock."""
    seconds: float = 0

    @property
    def label(self) -> str:
        """Return the speed as text for the screen."""
        if self.moment:
            return f"by event, {self.moment:g} s"
        if self.seconds == inf:
            return "top speed"
        return f"{_short_span(self.seconds)}/s"

    def pace(self, per_column: float) -> float:
        """Return the seconds until now moves by a column of `per_column` simulated seconds, or by an event."""
        return self.moment * PASSING if self.moment else per_column / self.seconds


def _short_span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size and not seconds % size:
            return f"{seconds / size:g}{unit}"
    return span(seconds)


SPEEDS = (
    *(Speed(moment=seconds) for seconds in (4, 2, 1)),
    *(Speed(seconds=s) for s in (10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 4 * 86400, 14 * 86400)),
    Speed(seconds=inf),
)


BY_EVENT = next(index for index, speed in enumerate(SPEEDS) if speed.moment == 2)
"""Index in `SPEEDS` of the usual speed from event to event."""


def first_speed(lasts: float, wanted: str | None = None) -> int:
    """Return the index in `SPEEDS` of the speed named `wanted`. Without it, return the slowest speed that shows `lasts`
    seconds within a minute, but at most 1h/s.

    >>> SPEEDS[first_speed(2400)].label, SPEEDS[first_speed(3e7)].label, SPEEDS[first_speed(3e7, "4h/s")].label
    ('1m/s', '1h/s', '4h/s')
    """
    for index, speed in enumerate(SPEEDS):
        if speed.label == wanted:
            return index
    timed = [(index, speed) for index, speed in enumerate(SPEEDS) if 0 < speed.seconds <= 3600]
    return next((index for index, speed in timed if speed.seconds * 60 >= lasts), timed[-1][0])
