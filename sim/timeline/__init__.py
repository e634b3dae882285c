"""Whole runs (`scenario`), and timelines: any step of a run again, in branches with other policies."""
