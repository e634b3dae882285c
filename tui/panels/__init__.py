"""Panels: functions that return the content of each panel as a sheet of lines, from a scene of the run."""
