"""Stop conditions: their grammar, their values at a step, and the search for a step that meets them."""
