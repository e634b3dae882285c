"""Web server: each visitor has a process, or all visitors share one screen."""
