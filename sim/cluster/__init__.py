"""Observed clusters: their state, its changes, and the plans of their schedulers."""
