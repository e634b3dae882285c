"""Observed cluster as values that widgets draw: charts, tables and steps."""
