"""History of a run: columns that can be searched by time and by job, the results of each job, and running totals.

A *stretch* is a span of time in which a job holds a set of processors (see `sim.history.past`).
"""
