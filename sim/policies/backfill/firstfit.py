"""First fit, first served (Ward et al., section 1). With order=wide it is their best fit, with order=narrow their worst
fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.decisions.reasons import Fits
from sim.policies.policy import Ordered
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("firstfit", "W section 1")
@dataclass(frozen=True)
class FirstFit(Ordered):
    """Go once through the whole queue and start all that fit: no reservations, so wide jobs may starve."""

    plans = "nobody"

    def decide(self, now: Moment) -> None:
        for job in now.candidates():
            if now.fits(job):
                now.start(job, Fits(now.free))
            else:
                now.keep(job)
