"""schedscope's library: workloads in, one instant after another, schedules and their reasons out.

It imports numpy and the standard library only; the screens in `tui` are built on it and never the other way.
"""
