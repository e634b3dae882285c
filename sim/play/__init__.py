"""A game: a person is the scheduler for an afternoon, and policies play the same hours."""
