"""First screen: the menu of samples, lessons, sessions and traces."""
