"""Time passes: the state of a simulation, what changes it (`transitions`, `succession`), and what can be seen of it."""
