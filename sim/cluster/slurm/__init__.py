"""Conversion of the text and JSON of Slurm's commands to values of a cluster."""
