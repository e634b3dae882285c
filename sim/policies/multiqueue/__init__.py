"""Policies with a queue and a partition of the machine for each class of estimates (Lawson & Smirni)."""

from sim.policies.multiqueue import multiqueue  # noqa: F401
