"""Lessons: a trace, a policy, and scenes with texts and questions; every number and answer is computed by the run."""
