"""Lessons: a trace, a policy, and scenes with texts and questions; a run computes all numbers and answers."""
