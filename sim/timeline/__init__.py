"""Whole runs (`scenario`); any step of a run again, another policy from there, branches for what would have been."""
