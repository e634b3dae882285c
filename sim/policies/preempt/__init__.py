"""Policies that suspend running jobs in favour of others (Kettimuthu)."""

from sim.policies.preempt import immediate, selective

__all__ = ["immediate", "selective"]
