"""Worker of a replay: it receives requests, and sends scenes to the screen. It uses no widgets."""
