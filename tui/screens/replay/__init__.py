"""Replay screen with its controllers."""
