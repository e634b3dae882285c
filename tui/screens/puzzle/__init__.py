"""A small machine to draw jobs on, with the same jobs under four policies below it."""
