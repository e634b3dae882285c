"""What was: columns that a chart can ask by time and by job, what became of each job, and the numbers so far."""
