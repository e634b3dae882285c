"""Fast loops, compiled: the rules of the engine and of most policies over arrays of numbers instead of objects."""
