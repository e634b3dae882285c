"""Any step of a run again, another policy from any step on, and branches for what would have been."""
