"""The worker's side of the replay: requests in, scenes out. No widgets."""
