"""Metrics of a schedule: for all jobs, for groups of jobs, and over time."""
