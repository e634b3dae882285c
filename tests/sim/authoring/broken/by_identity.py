from __future__ import annotations

from dataclasses import dataclass

from sim import Policy
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that starts jobs in the order in which their objects lie in memory."""

    def decide(self, now: Moment) -> None:
        for job in sorted(now.queue, key=id):
            if now.fits(job):
                now.start(job, Fits(now.free))
