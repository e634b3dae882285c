"""Simulation: its state, the changes of the state (`transitions`, `policy_switch`), and the views of it."""
