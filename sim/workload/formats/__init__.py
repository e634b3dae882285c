"""Traces in and out, one file a format."""
