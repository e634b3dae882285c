"""A file of results: a table, a plot, and the replay of any run."""
