"""Lottery scheduling (Waldspurger & Weihl 1994): the next job is drawn at random; a user's jobs share the user's
tickets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from sim import Policy
from sim.core.moment import Moment
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.policies.parameters import parameter


@dataclass(frozen=True)
class Lottery(Policy):
    """Every user has one ticket, shared by the user's jobs that fit; the drawn job starts.

    The draws of a moment depend only on its time and on the seed, so that the same run has the same draws.
    """

    seed: int = parameter(0, "random seed of the order", low=0)

    def decide(self, view: Moment) -> Iterator[Decision]:
        lots = Random(f"{self.seed} {view.now}")
        while fitting := [job for job in view.queue if job.procs <= view.free]:
            shared = Counter(job.user for job in fitting)
            drawn = lots.choices(fitting, [1 / shared[job.user] for job in fitting])[0]
            yield Start(drawn, Fits(view.free))
