from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment

PASSES = [0]


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that skips every third pass if jobs run; it counts its passes in a variable of the module."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        PASSES[0] += 1
        if PASSES[0] % 3 == 0 and view.running:
            return
        for job in view.queue:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
