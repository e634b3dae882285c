"""What `import cython` gives to a file that is not compiled."""

compiled = False
