"""Web server: each visitor has a process, or all share one screen."""
