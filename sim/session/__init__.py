"""Sessions: a moment of a run as a small text file, and back."""
