"""Experiments: plans of many runs, the workers that make them, a file of results, and tables and figures of it."""
