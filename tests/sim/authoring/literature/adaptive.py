"""Another policy for each length of the queue (dynP, Streit 2002): the longer the queue, the less fair and the
quicker.
"""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.orders import ShortestFirst
from sim.policies.parameters import parameter


@dataclass(frozen=True)
class Adaptive(Policy):
    """First come, first served while few wait, EASY while more do, and EASY in the order of `order` beyond that."""

    few: int = parameter(3, "up to so many waiting jobs nobody passes", low=0)
    many: int = parameter(10, "beyond so many the shortest go first", low=0)
    plans = "the heads"

    def decide(self, now: Moment) -> None:
        waiting = len(now.queue)
        if waiting <= self.few:
            chosen: Policy = FirstComeFirstServed()
        elif waiting <= self.many:
            chosen = Easy()
        else:
            chosen = Easy(order=ShortestFirst(), depth=2)
        now.notes["rules"] = {0: float(waiting > self.few)}
        chosen.decide(now)
