"""Workloads: traces in and out (one file a format), transforms, generators."""
