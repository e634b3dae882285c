"""In browsers: a process for each visitor, or everybody before one screen."""
