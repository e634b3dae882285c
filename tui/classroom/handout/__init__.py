"""Handouts: a lesson or a run as one HTML file for a course page, and a lesson as plain text in a terminal."""
