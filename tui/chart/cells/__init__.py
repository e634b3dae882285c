"""The chart on a terminal: pixels to cells, cells to strips."""
