"""All policies, one file each, in folders by family. Importing this package registers them all by name."""

from sim.policies import backfill, gang, multifactor, multiqueue, preempt, switching  # noqa: F401
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import POLICIES, parse_policy

__all__ = ["POLICIES", "Policy", "parse_policy", "written_policy"]
