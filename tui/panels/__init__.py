"""Panels: pure functions that make a sheet of lines from a scene."""
