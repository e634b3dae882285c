"""What a policy may say: decisions and reasons, each with its own words."""
