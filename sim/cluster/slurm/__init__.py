"""Slurm: the text and the JSON of its commands as values of a cluster."""
