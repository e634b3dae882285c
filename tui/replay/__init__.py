"""Worker of a replay: requests in, scenes out, partly hidden while a question is open. It uses no widgets."""
