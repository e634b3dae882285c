"""Decisions of policies and the reasons for them, with their sentences."""
