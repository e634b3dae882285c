"""The screen of a live machine, and of a recording of one."""
