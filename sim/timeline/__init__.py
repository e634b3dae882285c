"""Whole runs (`scenario`), and timelines, which go to any step of a run, with branches under other policies."""
