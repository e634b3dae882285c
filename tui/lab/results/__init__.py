"""Screen of a results file: a table, a plot, and the replay of any of its runs."""
