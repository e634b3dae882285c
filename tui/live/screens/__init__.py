"""Screen of an observed cluster, and of a recording of one."""
