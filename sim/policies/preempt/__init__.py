"""Policies that suspend running jobs in favour of others (Kettimuthu)."""

from sim.policies.preempt import immediate, selective  # noqa: F401
