"""Forecasts of the starts of waiting jobs on a cluster that is observed, and their score against what came."""
