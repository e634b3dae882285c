"""User-defined policies: how a user names their code, the consent to run it, and the one place where it runs."""
