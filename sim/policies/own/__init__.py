"""User-defined policies: how their code is named, who agreed to it, and the one place where it runs."""
