"""Comparison of two runs of the same jobs: first difference, metrics, and jobs that gain or lose."""
