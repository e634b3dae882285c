"""Commands for many runs, one file each, and what they share."""
