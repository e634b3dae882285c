"""Pace of the polls of a scheduler, which is slowed down to protect it from load."""

from __future__ import annotations

from dataclasses import dataclass

USUAL, LEAST, MOST = 60.0, 10.0, 900.0
"""Seconds between two polls: by default, at least, and at most."""
SLOW = 1.0
"""Seconds above which an answer counts as slow."""


@dataclass(frozen=True)
class Pace:
    """Seconds until the next poll (`wait`), as an immutable value. `after` returns the pace after one more poll.

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
        """Return the pace after an answer that took `cost` seconds; `cost` is None if there was no answer, or a
        refusal.

        A slow answer or none doubles the interval, a quick one sets it to the requested value.
        """
        if cost is not None and cost <= SLOW:
            return Pace(self.every, self.every)
        return Pace(self.every, min(max(2 * self.wait, self.every), MOST))
