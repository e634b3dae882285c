"""Policies that decide nothing themselves but which policy does (Z section 5.3)."""

from sim.policies.leading import adaptive

__all__ = ["adaptive"]
