"""Time passes: the state of a simulation, the one place that changes it, and what can be seen of it."""
