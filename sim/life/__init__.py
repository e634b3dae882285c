"""One job's story: as far as a history knows it (`so_far`), or from submission to end in a run of its own (`life`)."""
