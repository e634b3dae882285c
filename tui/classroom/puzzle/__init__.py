"""Puzzle: an editor for a few jobs on a small machine, which four policies schedule at once."""
