"""Policies with one queue that never suspend a job: in order of the queue, or with backfilling."""

from sim.policies.backfill import (  # noqa: F401
    conservative,
    easy,
    easy_plus_plus,
    fcfs,
    firstfit,
    greedy,
    lookahead,
    recorded,
    relaxed,
    replan,
    shadow,
    slack,
    slurm,
)
