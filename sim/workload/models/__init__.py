"""Workloads made by published models."""
