"""A run as a film: what the screen shows while it plays, in a file."""
