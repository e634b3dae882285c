"""Code of a policy next to its decisions: which line made each of them, with which values and comparisons."""
