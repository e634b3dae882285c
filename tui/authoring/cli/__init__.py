"""Commands for authors of policies."""
