"""Commands about a real cluster, one file each."""
