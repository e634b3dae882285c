"""Lessons: a trace, a policy, and scenes with texts and questions; all numbers and answers are computed by running the
policy.
"""
