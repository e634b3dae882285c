"""Conditions to stop at: their grammar, what a step says of them, and the search for the step that meets them."""
