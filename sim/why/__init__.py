"""Answers to why a job waits, starts or is suspended, and which step changed a value."""
