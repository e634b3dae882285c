"""Gang scheduling: rows of jobs in the Ousterhout matrix take turns on the processors (Zhang et al.)."""

from sim.policies.gang import gang  # noqa: F401
