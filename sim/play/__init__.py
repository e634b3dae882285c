"""Game: the user schedules the jobs of an afternoon, and policies schedule the same jobs."""
