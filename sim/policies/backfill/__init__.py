"""Space sharing with one queue: in order, backfilled, with plans, bounds and windows (ZKP, W, K)."""

from sim.policies.backfill import conservative, easy, fcfs, firstfit, recorded, relaxed, replan, shadow, slack

__all__ = ["conservative", "easy", "fcfs", "firstfit", "recorded", "relaxed", "replan", "shadow", "slack"]
