"""Lessons: a trace, a policy, and scenes that say and ask something; every number and answer comes out of the run."""
