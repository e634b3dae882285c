"""A queue and a partition for each class of length (Lawson & Smirni)."""

from sim.policies.multiqueue import multiqueue

__all__ = ["multiqueue"]
