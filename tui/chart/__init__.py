"""The chart: one model of what is drawn, and two renderers, cells and SVG."""
