"""Reading of a real Slurm: its commands, and the conversion of their text and JSON to values of a cluster."""
