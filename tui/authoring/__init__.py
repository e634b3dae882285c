"""Annexe for authors of policies: templates and tests."""
