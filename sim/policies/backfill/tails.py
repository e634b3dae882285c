"""Orders in which the jobs behind the head of the queue are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from sim.workload.model import Job

Tail: TypeAlias = Literal["queue", "sjf", "ljf", "saf", "narrow", "wide", "latest"]
KEYS: dict[str, Callable[[Job], float]] = {
    "sjf": lambda job: job.estimate,
    "ljf": lambda job: -job.estimate,
    "saf": lambda job: job.estimate * job.procs,
    "narrow": lambda job: job.procs,
    "wide": lambda job: -job.procs,
    "latest": lambda job: -job.rank,
}
TAILS = ("queue", *KEYS)


def in_tail(jobs: Iterable[Job], tail: str) -> Iterable[Job]:
    """Return the jobs, given in queue order, in the order `tail`; ties stay in queue order."""
    return jobs if tail == "queue" else sorted(jobs, key=KEYS[tail])
