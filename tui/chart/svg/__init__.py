"""Renderer of the chart for files: it makes an SVG picture of a run between two times."""
