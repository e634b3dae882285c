"""Policies that suspend running jobs (Kettimuthu)."""

from sim.policies.preempt import immediate, selective

__all__ = ["immediate", "selective"]
