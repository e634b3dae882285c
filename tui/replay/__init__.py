"""The worker's side of the replay: requests in, scenes out, partly hidden while a question is open. No widgets."""
