"""Whole runs (`scenario`), and timelines, which go to any step of a run and have branches under other policies."""
