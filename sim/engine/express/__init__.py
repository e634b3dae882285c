"""Fast path: many steps made at once by the loops of `sim.kernel`, with the state copied in and back."""
