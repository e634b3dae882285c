"""Two runs of one workload side by side: which is better in what, and where they part."""
