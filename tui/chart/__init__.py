"""Chart: one model of what is drawn, and two renderers, for terminal cells and for SVG."""
