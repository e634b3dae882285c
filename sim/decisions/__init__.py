"""Decisions of a policy and their reasons, with their sentences."""
