"""Keeping moments: autosaves, what was left last, and what a screen shows as a session."""
