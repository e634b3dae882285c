"""User-defined policies: the names of their code, the consent to run it, and the one place where it runs."""
