"""Code of a policy beside its decisions: which line made each of them, with which values and comparisons."""
