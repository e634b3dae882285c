"""Assignments: submitted policies and answers, each graded by the engine, whatever it does."""
