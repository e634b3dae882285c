"""Stretches of a run made at once by the loops of `sim.kernel`: the state goes in, and comes out further on."""
