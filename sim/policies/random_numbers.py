"""Random numbers that depend only on a seed, a step and a job's rank (splitmix64), whatever the number of jobs."""

from __future__ import annotations

GOLDEN: int = 0x9E3779B97F4A7C15
MIXING: int = 0xBF58476D1CE4E5B9
MIXING_MORE: int = 0x94D049BB133111EB
MASK: int = 0xFFFFFFFFFFFFFFFF
A_PART = 2.0**-53


def drawn(bits: int, rank: int) -> float:
    """Return the random number in [0, 1) of job `rank`, made from `bits`, the 64 random bits of a step."""
    return (mixed(bits + GOLDEN * (rank + 1)) >> 11) * A_PART


def mixed(word: int) -> int:
    """Return 64 bits that each depend on every bit of `word` (the mixing function of Steele, Lea & Flood 2014)."""
    word &= MASK
    word = (word ^ word >> 30) * MIXING & MASK
    word = (word ^ word >> 27) * MIXING_MORE & MASK
    return word ^ word >> 31
