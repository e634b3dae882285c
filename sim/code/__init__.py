"""Code of a policy, linked to its decisions: which line made each decision, with which values and comparisons."""
