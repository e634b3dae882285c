"""Panels: functions that return the content of each as a sheet of lines, drawn from a scene."""
