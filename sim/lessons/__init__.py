"""Lessons: a trace, a policy, and scenes with texts and questions; every number and answer comes from the run."""
