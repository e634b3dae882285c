"""Observed cluster on the screen, as values that widgets draw: charts, tables and texts."""
