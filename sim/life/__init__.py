"""Life of one job, from submission to end: as far as a history goes (`job_state`), or with all reasons from a run of
its own
(`life`).
"""
