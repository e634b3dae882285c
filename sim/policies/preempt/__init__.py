"""Policies that suspend running jobs in favour of others (Kettimuthu)."""

from sim.policies.preempt import selective, immediate  # noqa: F401, I001  # the simplest first
