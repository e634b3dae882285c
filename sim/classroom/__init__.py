"""Annexe for classes: lessons, quizzes, puzzles and the game."""
