"""Puzzle: an editor for a few jobs on a small machine, scheduled by four policies at once."""
