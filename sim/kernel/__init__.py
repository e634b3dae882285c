"""The rules of the engine and of most policies a second time: loops over columns, as they are or compiled."""
