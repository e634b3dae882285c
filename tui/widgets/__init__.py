"""Widgets: they draw the values that they are given and tell what a person did."""
