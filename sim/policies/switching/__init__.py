"""Policies that decide nothing themselves but select the policy that decides (Zhang et al. 2000, section 5.3)."""

from sim.policies.switching import adaptive  # noqa: F401
