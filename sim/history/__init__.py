"""History of a run: columns that can be searched by time and by job, the results of each job, and running totals.

A column is an array with one entry for each step, stretch or job. A *stretch* is a span of time in which a job holds a
set of processors (see `sim.history.past`).
"""
