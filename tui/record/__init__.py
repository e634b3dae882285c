"""Recording of the screen as a film in a file, while the program plays a run."""
