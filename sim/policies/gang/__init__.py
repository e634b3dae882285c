"""Rows of jobs take turns: gang scheduling with the Ousterhout matrix (Zhang et al.)."""

from sim.policies.gang import gang

__all__ = ["gang"]
