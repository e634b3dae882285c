"""Policies with one queue that never suspend a job: in order of the queue, or with backfilling."""

from sim.policies.backfill import (
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

__all__ = [
    "conservative",
    "easy",
    "easy_plus_plus",
    "fcfs",
    "firstfit",
    "greedy",
    "lookahead",
    "recorded",
    "relaxed",
    "replan",
    "shadow",
    "slack",
    "slurm",
]
