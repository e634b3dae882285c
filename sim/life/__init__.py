"""Life of one job: `job_state` reads the history of a run; `life` repeats the run to get all events and reasons."""
