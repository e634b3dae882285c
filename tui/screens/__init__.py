"""Screens: the replay, its dialogs, and the commands of the palette."""
