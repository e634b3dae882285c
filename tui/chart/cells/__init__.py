"""Renderer of the chart for terminals: it converts pixels to cells, and cells to strips of text."""
