"""Command that records films."""
