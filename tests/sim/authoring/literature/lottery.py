"""Lottery scheduling (Waldspurger & Weihl 1994): the next job is drawn at random; a user's jobs share the user's
tickets.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from sim import Moment, Policy
from sim.decisions.reasons import Fits
from sim.policies.parameters import parameter


@dataclass(frozen=True)
class Lottery(Policy):
    """Every user has one ticket, shared by the user's jobs that fit; the drawn job starts.

    The draws of a moment depend only on its time and on the seed, so that the same run has the same draws.
    """

    seed: int = parameter(0, "random seed of the order", low=0)

    def decide(self, now: Moment) -> None:
        lots = Random(f"{self.seed} {now.time}")
        while fitting := [job for job in now.queue if now.fits(job)]:
            shared = Counter(job.user for job in fitting)
            drawn = lots.choices(fitting, [1 / shared[job.user] for job in fitting])[0]
            now.start(drawn, Fits(now.free))
