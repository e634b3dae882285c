"""Generators of workloads by published models."""
