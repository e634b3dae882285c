"""Policies with one queue that never suspend a job: in order of the queue, or with backfilling."""

from sim.policies.backfill import (  # noqa: F401, I001  # the simplest first, as lists show them
    fcfs,
    firstfit,
    easy,
    easy_plus_plus,
    lookahead,
    greedy,
    conservative,
    replan,
    shadow,
    relaxed,
    slack,
    slurm,
    recorded,
)
