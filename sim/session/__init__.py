"""Sessions: a moment of a run that is saved as a small text file and opened again."""
