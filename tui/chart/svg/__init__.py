"""Renderer of the chart for files: an SVG picture is made from a history and a window of time."""
