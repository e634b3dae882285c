"""Widgets: they draw the values that they are given and report the user's input."""
