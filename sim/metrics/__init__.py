"""The numbers of a schedule: of all jobs, of groups of them, over time."""
