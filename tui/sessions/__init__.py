"""Storage of sessions: autosaves, the last session, and conversion between screen and session."""
