"""Space sharing with one queue: in order, backfilled, with plans, bounds and windows."""

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
