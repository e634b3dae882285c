"""Orders in which the jobs behind the head of the queue are tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from sim.workload.model import Job

Tail: TypeAlias = Literal["queue", "sjf", "ljf", "saf", "narrow", "wide", "latest"]
TAILS = ("queue", "sjf", "ljf", "saf", "narrow", "wide", "latest")


def tail_key(tail: str, procs: int, estimate: float, rank: int) -> float:
    """Return the sort key of a job in the order `tail`; the job with the smallest key is tried first."""
    if tail == "sjf":
        return estimate
    if tail == "ljf":
        return -estimate
    if tail == "saf":
        return estimate * procs
    if tail == "narrow":
        return procs
    return -procs if tail == "wide" else -rank


def in_tail(jobs: Iterable[Job], tail: str) -> list[Job]:
    """Return the jobs, given in queue order, in the order `tail`; ties stay in queue order."""
    return (
        [*jobs] if tail == "queue" else sorted(jobs, key=lambda job: tail_key(tail, job.procs, job.estimate, job.rank))
    )
