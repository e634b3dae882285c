"""The panels: pure functions from a scene to a sheet of lines."""
