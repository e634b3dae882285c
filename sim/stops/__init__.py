"""When to stop: conditions read by a grammar, and the search for the step at which they come true."""
