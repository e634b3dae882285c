"""Lessons, quizzes, puzzles and games on the screen."""
