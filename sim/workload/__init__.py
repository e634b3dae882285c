"""Workloads: readers and writers of traces (one file per format), transforms, generators."""
