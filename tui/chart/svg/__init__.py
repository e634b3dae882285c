"""The chart as a file: pure functions from a history and a window of time to an SVG picture."""
