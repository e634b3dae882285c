"""Parts of a run with which the engine (`sim.core`) works, and what other rooms read of a run."""
