"""Chart of a run: one model of what is drawn, and two renderers, for terminal cells and for SVG.

Time goes to the right, processors upwards. A pixel is the smallest part: a column by half a row of cells.
"""
