"""Engine for watched and unwatched runs: one moment, on which policies act, from one instant to the next."""
