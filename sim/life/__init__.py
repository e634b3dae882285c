"""Life of one job, from submission to end. `job_state` reads what the history of a run contains; `life` repeats the
job's run to get all events and reasons.
"""
