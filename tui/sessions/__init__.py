"""Storage of sessions: saved while the program runs, when it ends, and on request; conversion of the screen to a
session.
"""
