"""Observed cluster on the screen: charts, tables and texts as values, which widgets draw."""
