"""Screens and commands, built on the library `sim`."""
