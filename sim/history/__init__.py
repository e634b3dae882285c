"""History of a run: columns that can be searched by time and by job, the results of each job, and running totals."""
