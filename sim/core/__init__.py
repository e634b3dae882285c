"""One engine for watched and unwatched runs, in plain typed Python. It stands beside `sim.engine` until it has all
families of policies; then that one goes.
"""
