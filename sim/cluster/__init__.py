"""Machines that are observed, not simulated: what stands in a cluster, what changed, and what its scheduler plans."""
