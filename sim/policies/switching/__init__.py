"""Policies that decide nothing themselves but which policy does (Z section 5.3)."""

from sim.policies.switching import adaptive

__all__ = ["adaptive"]
