"""Game: the user schedules the jobs of an afternoon, and is compared with policies for the same jobs."""
