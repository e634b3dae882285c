"""Stop conditions, at which a replay stops: their grammar, how a step is checked, and the search for a step that meets
one.
"""
