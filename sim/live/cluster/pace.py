"""Pace of the polls of a scheduler, which is slowed down to protect it from load."""

from __future__ import annotations

from dataclasses import dataclass

USUAL, LEAST, MOST = 60.0, 10.0, 900.0
"""Seconds between two polls: default, smallest and largest value."""
SLOW = 0.1
"""Share of the requested interval between two polls. A scheduler's answer that takes longer counts as slow."""


@dataclass(frozen=True)
class Pace:
    """Seconds from the beginning of a poll to that of the next one (`wait`), as an immutable value. `after` returns the
    pace after a poll whose answer took `cost` seconds.

    >>> Pace.of(5).wait, Pace.of(60).after(cost=5.9).wait, Pace.of(60).after(cost=6.1).after(cost=None).wait
    (10.0, 60.0, 240.0)
    >>> Pace.of(10).after(cost=None).after(cost=9.0).wait
    10.0
    """

    every: float
    wait: float
    is_silent: bool = False
    """True if the scheduler did not answer the last poll."""

    @classmethod
    def of(cls, every: float) -> Pace:
        """Return the pace for a requested interval of `every` seconds, moved into the range from `LEAST` to `MOST`."""
        wish = float(min(max(every, LEAST), MOST))
        return cls(wish, wish)

    def after(self, cost: float | None) -> Pace:
        """Return the pace after a poll whose answer took `cost` seconds; `cost` is None if the scheduler did not answer
        or refused.

        A slow answer (see `SLOW`) or none doubles the interval. A fast answer resets it to the requested interval. So
        does the first answer after none, which is to everything and may be slow.
        """
        if cost is not None and (self.is_silent or cost <= SLOW * self.every):
            return Pace(self.every, self.every)
        return Pace(self.every, min(max(2 * self.wait, self.every), MOST), is_silent=cost is None)

    def left(self, since: float) -> float:
        """Return the seconds until the next poll if the last one began `since` seconds ago. A poll that came late does
        not delay the next ones: they keep to the times at which they would have begun.

        >>> Pace.of(60).left(since=0.5), Pace.of(60).left(since=61.0)
        (59.5, 59.0)
        """
        return self.wait - since % self.wait

    def soonest(self, since: float) -> float:
        """Return the seconds until a user may have another poll if the last one began `since` seconds ago."""
        return max(min(LEAST, self.every) - since, 0.0)
