"""Life of one job, from submission to end: either what the history of a run contains (`job_state`), or all events and
reasons, for which the job's run is repeated (`life`).
"""
