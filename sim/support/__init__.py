"""Modules that every package uses: errors, files, times as text, deadlines, captured output."""
