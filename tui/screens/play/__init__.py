"""The game: a queue, a machine and a clock; afterwards the scores."""
