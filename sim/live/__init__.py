"""Annexe of real clusters: what was observed of them, recordings, forecasts."""
