"""Every policy, one file each. Importing this package registers them all."""

from sim.policies import (
    conservative,
    easy,
    fcfs,
    firstfit,
    gang,
    immediate,
    multiqueue,
    recorded,
    relaxed,
    replan,
    selective,
    shadow,
    slack,
)
from sim.policies.base import ALIASES, POLICIES, Policy, parse_policy, written_policy

__all__ = ["ALIASES", "POLICIES", "Policy", "parse_policy", "written_policy"]
__all__ += [
    "conservative",
    "easy",
    "fcfs",
    "firstfit",
    "gang",
    "immediate",
    "multiqueue",
    "recorded",
    "relaxed",
    "replan",
    "selective",
    "shadow",
    "slack",
]
