"""Recording of a run as a film in a file: what the screen shows during playback."""
