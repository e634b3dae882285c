"""Fast loops: the rules of the engine and of most policies a second time, over arrays of numbers instead of objects.

They are compiled, or run interpreted.
"""
