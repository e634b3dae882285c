"""Results of many runs on the screen and the command line."""
