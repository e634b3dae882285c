"""Panels: functions that return the content of each panel as a sheet of lines. They draw a scene: what the screen shows
of a run at one time.
"""
