"""Every policy, one file each, in families. Importing this package registers them all."""

from sim.policies import backfill, gang, multiqueue, preempt
from sim.policies.policy import ALIASES, POLICIES, Policy, parse_policy, written_policy

__all__ = [
    "ALIASES", "POLICIES", "Policy", "backfill", "gang", "multiqueue", "parse_policy", "preempt", "written_policy",
]  # fmt: skip
