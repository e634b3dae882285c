"""Renderer of the chart for terminals: pixels become cells, cells become strips."""
