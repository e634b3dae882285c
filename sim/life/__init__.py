"""One job's story, from its submission to its end."""
