"""Pace of the requests to a scheduler, which protects it from load."""

from __future__ import annotations

from dataclasses import dataclass

USUAL, LEAST, MOST = 60.0, 10.0, 900.0
"""Seconds between two polls: the default, the smallest and the largest."""
SLOW = 1.0
"""Seconds of an answer that counts as slow if exceeded."""


@dataclass(frozen=True)
class Pace:
    """Seconds until the next poll; every answer gives a new `Pace`.

    >>> Pace.of(5).wait, Pace.of(60).after(cost=0.2).wait, Pace.of(60).after(cost=1.5).after(cost=None).wait
    (10.0, 60.0, 240.0)
    """

    every: float
    wait: float

    @classmethod
    def of(cls, every: float) -> Pace:
        """Return the pace for a requested interval, which is at least `LEAST`."""
        wish = float(min(max(every, LEAST), MOST))
        return cls(wish, wish)

    def after(self, cost: float | None) -> Pace:
        """Return the pace after an answer that took `cost` seconds; None for no answer or a refusal.

        The interval is doubled after a slow answer or none, and normal again after a quick one.
        """
        if cost is not None and cost <= SLOW:
            return Pace(self.every, self.every)
        return Pace(self.every, min(max(2 * self.wait, self.every), MOST))
