"""Readers and writers of traces, one file per format."""
