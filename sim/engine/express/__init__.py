"""Fast path of the engine: the loops of `sim.kernel` make many steps at once; the state is copied into them and
back.
"""
