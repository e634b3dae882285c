"""Rules of the engine and of most policies a second time, as fast loops over columns of numbers, compiled or
interpreted.
"""
