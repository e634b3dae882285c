"""The worker's side of the replay: requests in, scenes out, veiled while a question is open. No widgets."""
