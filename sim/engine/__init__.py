"""Engine, which simulates a run: the state of the run, the changes of this state (`transitions`, `policy_switch`), and
views of it.
"""
