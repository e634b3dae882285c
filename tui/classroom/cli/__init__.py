"""Commands for classes, one file each."""
