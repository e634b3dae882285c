from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment


@dataclass(frozen=True)
class Broken(Policy):
    """Policy that decides nothing at all."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        starting = [Start(job, Fits(view.free)) for job in view.queue if job.procs <= view.free]
        yield from starting[:0]
