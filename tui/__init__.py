"""Everything a person at a terminal touches; the library below it is `sim`."""
