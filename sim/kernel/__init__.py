"""Rules of the engine and of most policies a second time, as fast loops over columns, compiled or interpreted."""
