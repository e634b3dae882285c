"""Story of one job: as of a moment of a history (`job_state`), or from submission to end in a run of its own
(`life`).
"""
