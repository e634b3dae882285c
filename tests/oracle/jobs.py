"""Jobs for the second implementations of the rules, and the orders of a queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sim.workload.model import Workload


class Job(NamedTuple):
    rank: int
    submit: float
    procs: int
    run: float
    estimate: float
    user: int = -1


def jobs_of(workload: Workload) -> list[Job]:
    """Return the jobs of a workload, each as plain numbers."""
    columns = (workload.submit, workload.width, workload.runtime, workload.estimate, workload.user)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Job(rank, *row) for rank, row in enumerate(rows)]


ORDERS: dict[str, Callable[[Job, float], float]] = {
    "fcfs": lambda job, now: 0,
    "sjf": lambda job, now: job.estimate,
    "ljf": lambda job, now: -job.estimate,
    "saf": lambda job, now: job.estimate * job.procs,
    "narrow": lambda job, now: job.procs,
    "wide": lambda job, now: -job.procs,
    "xfactor": lambda job, now: -(now - job.submit + job.estimate) / job.estimate,
}


def in_order(jobs: Iterable[Job], order: str, now: float) -> list[Job]:
    """Return the jobs in the order of the queue: a smaller key goes first, and rank breaks ties."""
    return sorted(jobs, key=lambda job: (ORDERS[order](job, now), job.rank))
