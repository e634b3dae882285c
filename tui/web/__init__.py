"""Web server: a process for each visitor, or one screen for all of them."""
