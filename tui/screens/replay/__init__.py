"""Screen of the replay, with controllers that execute the user's actions."""
