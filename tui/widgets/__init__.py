"""Widgets of the screens: each draws the value it is given, and reports what the user does."""
