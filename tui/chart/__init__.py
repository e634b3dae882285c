"""Chart of a run: one model of what is drawn, and two renderers, for terminal cells and for SVG."""
