"""Stop conditions of a replay: their grammar, how a step is checked, and the search for a step that meets one."""
