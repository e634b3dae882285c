"""Growth of the time that a pass takes with the number of waiting jobs."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from time import perf_counter

from sim.authoring.workloads import crowd
from sim.engine.engine import Engine
from sim.engine.policy_calls import patience
from sim.policies.policy import Policy
from sim.support.formatting import count

WAITING = (1, 4, 15, 60, 125, 250, 500, 1000, 2000)
PASSES = 5
LONG = 0.5
"""Seconds from which a pass is measured only once; a shorter pass is measured several times."""
TOO_LONG = 2.0
"""Seconds that a pass may take with the longest queue; longer is reported."""


@dataclass(frozen=True)
class Growth:
    """Seconds of a pass for several numbers of waiting jobs."""

    points: tuple[tuple[int, float], ...]

    @property
    def exponent(self) -> float | None:
        """Return the exponent e of the time in the number of waiting jobs at the end; None if passes are too quick."""
        known = [point for point in self.points if point[1] > 2e-5]
        if len(known) < 2:
            return None
        (few, short), (many, long) = known[max(0, len(known) - 3)], known[-1]
        return log(long / short) / log(many / few)

    @property
    def is_too_slow(self) -> bool:
        return self.points[-1][1] > TOO_LONG

    @property
    def told(self) -> str:
        (few, short), (many, long) = self.points[0], self.points[-1]
        shown = f"a pass takes {1000 * short:,.2f} ms with {count(few, 'job')} waiting"
        if many > few:
            shown += f", {1000 * long:,.2f} ms with {many:,}"
        return shown if self.exponent is None else f"{shown}: it grows like n^{self.exponent:.1f}"


def measured(policy: Policy, seconds: float = 4 * TOO_LONG) -> Growth:
    """Measure passes with longer and longer queues, up to one above `TOO_LONG`; stop a pass after `seconds`."""
    points = []
    for waiting in WAITING:
        with patience(seconds):
            engine = Engine(crowd(waiting, PASSES), policy, curious=False)
            engine.advance(2)
            shortest = _step(engine)
            if shortest < LONG:
                shortest = min(shortest, *(_step(engine) for _ in range(PASSES - 1)))
            points.append((waiting, shortest))
        if points[-1][1] > TOO_LONG:
            break
    return Growth(tuple(points))


def _step(engine: Engine) -> float:
    began = perf_counter()
    engine.step()
    return perf_counter() - began
