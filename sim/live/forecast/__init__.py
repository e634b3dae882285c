"""Forecasts of when waiting jobs of an observed cluster will start, and their score."""
