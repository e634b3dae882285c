"""The engine, which simulates a run: its state, the changes of the state (`transitions`, `policy_switch`), and views of
it.
"""
