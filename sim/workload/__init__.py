"""Workloads: readers and writers of traces (one file per format), transforms of their jobs, and generators."""
