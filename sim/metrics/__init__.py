"""Metrics of a schedule: of all jobs, of groups of jobs, over time."""
