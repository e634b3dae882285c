"""First come, first served, strictly: the baseline of every paper (Zotkin et al., section 5, sort its queue)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.policies.policy import Ordered
from sim.policies.registry import policy

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("fcfs", "ZKP tables 2 and 6")
@dataclass(frozen=True)
class FirstComeFirstServed(Ordered):
    """Start from the front of the queue while it fits; no job passes the first that lacks processors."""

    plans = "nobody"
    lets_pass = False

    def decide(self, now: Moment) -> None:
        head = now.start_in_order()
        if head is not None:
            now.keep(head)
