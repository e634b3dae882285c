"""Storage of sessions: saving while the program runs, at its end, and on request; conversion between a replay and a
session.
"""
