"""Switch between one policy for a quiet machine and another for a busy one (Zhang et al. 2000, section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any, Literal

from sim.policies.own.naming import pairs_apart
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import parse_policy, policy
from sim.support.errors import ParameterError

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("adaptive", "Z section 5.3")
@dataclass(frozen=True)
class Adaptive(Policy):
    """Two policies, chosen by a measure: `above` takes over beyond at + band, `below` under at - band.

    Each switch is a step of its own, as if a user had switched; between the two values nothing changes. The measure is
    an average with exponential decay over `over` seconds (0: the present value). Measures: utilization, the share of
    busy processors; load, processors in use and requested by waiting jobs, over the machine; queue, the number of
    waiting jobs. The two are written like any policy, with + between parameters: above=gang-backfill:mpl=3+slice=60.
    """

    below: str = parameter("easy", "the policy while the measure is low; with it a run begins")
    above: str = parameter("gang-backfill", "the policy while the measure is high")
    by: Literal["utilization", "load", "queue"] = parameter(
        "utilization", "what is measured", choices=("utilization", "load", "queue")
    )
    at: float = parameter(0.8, "the threshold", low=0.0)
    band: float = parameter(0.05, "dead band: how far beyond the threshold the measure must go", low=0.0)
    over: float = parameter(3600.0, "seconds over which the measure is averaged; 0: not", low=0.0)

    def __post_init__(self) -> None:
        if any(other.leads() for other in self._two_policies):
            raise ParameterError("adaptive chooses between two policies that decide themselves")

    @cached_property
    def _two_policies(self) -> tuple[Policy, Policy]:
        low, high = (parse_policy(pairs_apart(spec)) for spec in (self.below, self.above))
        return low, high

    def leads(self) -> bool:
        return True

    def first(self) -> Policy:
        return self._two_policies[0]

    def deciders(self) -> tuple[Policy, ...]:
        return self._two_policies

    def next_policy(self, now: Policy, view: Moment, led: dict[str, float]) -> Policy:
        low, high = self._two_policies
        average = self._average(view, led)
        if now != high and average > self.at + self.band:
            return high
        if now != low and average < self.at - self.band:
            return low
        return now

    def _average(self, view: Moment, led: dict[str, float]) -> float:
        """Return the average of the measure until now, in which older values count less."""
        since, was = led.get("time", view.now), led.get("value", 0.0)
        kept = exp((since - view.now) / self.over) if self.over else 0.0
        value = self._measured(view)
        average = kept * led.get("average", 0.0) + (1 - kept) * was if self.over else value
        led.update(time=view.now, value=value, average=average)
        return average

    def _measured(self, view: Moment) -> float:
        if self.by == "queue":
            return len(view.queue)
        wanted = sum(job.procs for job in view.queue) if self.by == "load" else 0
        return (view.procs - view.free + wanted) / view.procs if view.procs else 0.0

    def decide(self, now: Moment) -> Any:
        return self.first().decide(now)
