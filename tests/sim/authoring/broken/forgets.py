from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that considers each job only when it arrives; a job that does not fit then never starts."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in view.arrived:
            if job.procs <= view.free:
                yield Start(job, Fits(view.free))
