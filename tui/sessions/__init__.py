"""Storage of sessions: saving regularly, at the end and on request; conversion of a replay."""
