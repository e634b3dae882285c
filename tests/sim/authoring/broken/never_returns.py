from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that, within a pass, waits in a loop until there are free processors."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in view.queue:
            while job.procs > view.free:
                pass
            else:
                yield Start(job, Fits(view.free))
