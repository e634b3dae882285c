"""Renderer of the chart for files: pure functions from a history and a time window to an SVG picture."""
