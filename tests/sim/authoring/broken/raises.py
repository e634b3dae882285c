from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that divides by the length of the queue minus three, and so by zero if three jobs wait."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        rest = [1 / (len(view.queue) - 3)] if view.queue else []
        for job in view.queue:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free + 0 * len(rest)))
