"""Jobs for the second implementations of the rules, and the orders of a queue."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple, cast

from sim.workload.model import Workload


class Job(NamedTuple):
    """Job whose times are exact fractions, typed as the floats for which they stand, so that equal sums are equal."""

    rank: int
    submit: float
    procs: int
    run: float
    estimate: float
    user: int = -1


def jobs_of(workload: Workload) -> list[Job]:
    """Return the jobs of a workload; times are rounded to microseconds."""
    submit, run, estimate = (map(exact, c.tolist()) for c in (workload.submit, workload.runtime, workload.estimate))
    return [*map(Job, range(len(workload)), submit, workload.width.tolist(), run, estimate, workload.user.tolist())]


def exact(number: float | str) -> float:
    return cast(float, Fraction(number).limit_denominator(10**6))


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
    return sorted(jobs, key=lambda job: (ORDERS[order](job, now), job.rank))
