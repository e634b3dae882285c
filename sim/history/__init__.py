"""History of a run: columns to query by time and by job, the results of each job, and running totals."""
