"""Game: the player starts the jobs of a queue, and is compared with policies."""
