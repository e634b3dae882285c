"""Observation of real clusters. A picture is the state of a cluster at one poll, as its scheduler reports it."""
