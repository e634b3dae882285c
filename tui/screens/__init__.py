"""Screens of the program: the replay, its dialogs, and the palette of commands."""
